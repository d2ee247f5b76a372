"""Find code that retries, by its syntax. Each detector gives lines such as `tasks/x.py:7 autoretry_for`."""

import ast
from collections.abc import Iterator
from pathlib import PurePath

#: Libraries whose purpose is to try again.
RETRY_LIBRARIES = {"tenacity", "stamina", "backoff", "retrying", "retry", "retry2", "aiohttp_retry", "httpx_retries"}
CELERY_COMPOSITIONS = {"chord", "group", "chain", "chunks", "xmap", "starmap"}
#: The one file that may hold a policy, and the two that may loop over calls, as it decides: a write's and a read's.
POLICY, RUNS = "tasks/decide.py", {"tasks/write.py", "tasks/read.py"}
#: Calls that reach a provider: the port's methods, the operations' and what is built on them.
PORT = {"create_booking", "find_by_reference", "get_booking", "open_line", "attempt"}
#: The same words mean other things on other objects.
PORT_ON = {
    "connect": ("pms", "provider"),
    "availability": ("pms", "provider"),
    "arrivals": ("pms", "provider"),
    "write": ("operation",),
    "check": ("operation",),
    "request": ("line",),
}
_LOOPS = (ast.For, ast.AsyncFor, ast.While, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def retries(source: str, path: str) -> list[str]:
    """What makes a library, or Celery, try again."""
    if path == POLICY:
        return []
    tree = ast.parse(source)
    celery = _carries_celery(path, tree)
    found = [
        (node.lineno, what)
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom | ast.Call | ast.Dict)
        for what in _retries(node, celery)
    ]
    return [f"{path}:{line} {what}" for line, what in sorted(found)]


def _carries_celery(path: str, tree: ast.Module) -> bool:
    """Elsewhere `.retry(` and `.delay(` may be words of our own."""
    imported = {module for node in ast.walk(tree) for module in _modules(node)}
    return PurePath(path).parts[0] in ("tasks", "workers", "providers", "dedupe") or bool(
        imported & {"celery", "kombu"}
    )


def _retries(node: ast.Import | ast.ImportFrom | ast.Call | ast.Dict, celery: bool) -> Iterator[str]:
    match node:
        case ast.Import() | ast.ImportFrom():
            yield from sorted(_modules(node) & RETRY_LIBRARIES)
            if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "celery":
                yield from sorted({alias.name for alias in node.names} & CELERY_COMPOSITIONS)
        case ast.Dict():
            for key, value in zip(node.keys, node.values, strict=True):
                yield from _option(key.value if isinstance(key, ast.Constant) else None, value)
        case ast.Call():
            # kombu's ensure_connection sends nothing; left alone it goes on for ever, so a bound is welcome there.
            for keyword in node.keywords if _called(node) != "ensure_connection" else ():
                yield from _option(keyword.arg, keyword.value)
            yield from _call(node, celery)


def _option(name: object, value: ast.expr) -> Iterator[str]:
    zero = isinstance(value, ast.Constant) and value.value in (0, False) and value.value is not None
    match name:
        case "autoretry_for" | "countdown" | "eta" | "retry_policy" | "task_publish_retry_policy" | "retry_backoff":
            yield str(name)
        case "max_retries" | "retries" | "max_network_retries" if not zero:
            yield f"{name}={ast.unparse(value)}"
        case "task_publish_retry" | "retry_on_timeout" | "pool_pre_ping" | "result_backend_always_retry" if not zero:
            yield f"{name}={ast.unparse(value)}"


def _call(node: ast.Call, celery: bool) -> Iterator[str]:
    name = _called(node)
    method = isinstance(node.func, ast.Attribute)
    given = {keyword.arg: ast.unparse(keyword.value) for keyword in node.keywords}
    if celery and method and name in ("retry", "delay"):
        yield f".{name}("
    if method and name in ("apply_async", "send_task") and given.get("retry") != "False":
        yield f".{name}( without retry=False"
    if method and name in CELERY_COMPOSITIONS and _receiver(node) == "celery":
        yield f"celery.{name}"
    if name == "Retry" and ast.unparse(node).split("Retry", 1)[1] != "(NoBackoff(), 0)":
        yield ast.unparse(node)
    redis = name in ("Redis", "StrictRedis") or (name == "from_url" and _receiver(node).lower().endswith("redis"))
    if redis and given.get("retry") != "Retry(NoBackoff(), 0)":
        yield f"{name}( without retry=Retry(NoBackoff(), 0)"


def loops(sources: dict[str, str]) -> list[str]:
    """Loops around a call that reaches a provider, directly or through functions of ours, outside RUNS."""
    trees = {path: ast.parse(source) for path, source in sources.items() if path not in RUNS}
    reaching = _reaching(trees)
    found = []
    for path, tree in trees.items():
        names = _names(tree, reaching, path)
        looped = [node for node in ast.walk(tree) if isinstance(node, _LOOPS)]
        found += [
            f"{path}:{loop.lineno} {_called(call)}("
            for loop in looped
            for call in _repeated(loop)
            if _reaches(call, names)
        ]
    return found


def _repeated(loop: ast.AST) -> list[ast.Call]:
    """The calls that a loop makes again; what a `for` runs over is called once."""
    once = ast.walk(loop.iter) if isinstance(loop, ast.For | ast.AsyncFor) else ()
    first = {id(node) for node in once}
    return [node for node in ast.walk(loop) if isinstance(node, ast.Call) and id(node) not in first]


def _reaching(trees: dict[str, ast.Module]) -> set[tuple[str, str]]:
    """(file, function) of all functions that reach a provider, however many calls deep."""
    calls = {
        (path, function.name): [node for node in ast.walk(function) if isinstance(node, ast.Call)]
        for path, tree in trees.items()
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    reaching: set[tuple[str, str]] = set()
    while True:
        names = {path: _names(tree, reaching, path) for path, tree in trees.items()}
        more = {place for place, made in calls.items() if any(_reaches(call, names[place[0]]) for call in made)}
        if more <= reaching:
            return reaching
        reaching |= more


def _names(tree: ast.Module, reaching: set[tuple[str, str]], path: str) -> set[str]:
    """The names under which reaching functions are known in a file: its own, and those it imports."""
    own = {name for where, name in reaching if where == path}
    imported = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module
        for alias in node.names
        if (node.module.replace(".", "/") + ".py", alias.name) in reaching
    }
    return own | imported


def _reaches(call: ast.Call, names: set[str]) -> bool:
    name, receiver = _called(call), _receiver(call)
    if name in PORT:
        return True
    if name in PORT_ON:
        return any(receiver.split(".")[-1].strip("_").startswith(word) for word in PORT_ON[name])
    return name in names and receiver in ("", "self")


def _called(call: ast.Call) -> str:
    return getattr(call.func, "attr", "") or getattr(call.func, "id", "")


def _receiver(call: ast.Call) -> str:
    return ast.unparse(call.func.value) if isinstance(call.func, ast.Attribute) else ""


def _modules(node: ast.AST) -> set[str]:
    """Top-level names of what an import statement imports."""
    match node:
        case ast.Import():
            return {alias.name.split(".")[0] for alias in node.names}
        case ast.ImportFrom(module=str(module), level=0):
            return {module.split(".")[0]}
        case _:
            return set()
