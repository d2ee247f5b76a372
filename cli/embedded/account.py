"""An account that PostgreSQL agrees to run under: it refuses root."""

import os
import pwd
import shutil
import subprocess
import sys
from pathlib import Path

from cli.embedded.process import Account, environment


def unprivileged(folder: Path) -> Account:
    """Choose an account that may write in `folder`, and hand the folder over to it where it must be.

    An ordinary user stays itself. Root becomes the folder's owner if that is someone else; otherwise it is *shown*
    as nobody in a user namespace, where the files stay root's; where namespaces are barred, as in most containers,
    it becomes nobody, who must be able to reach the folder and the wheel.
    """
    if os.geteuid() != 0:
        return Account()
    owner = folder.stat()
    if owner.st_uid != 0:
        return _other_user(folder, owner.st_uid, owner.st_gid)
    nobody = pwd.getpwnam("nobody")
    unshare = shutil.which("unshare")
    if unshare is not None:
        mapped = (f"--map-user={nobody.pw_uid}", f"--map-group={nobody.pw_gid}")
        hidden = (unshare, "--user", *mapped)
        if _can_write(hidden, folder):
            return Account(prefix=hidden)
    return _other_user(folder, nobody.pw_uid, nobody.pw_gid)


def _other_user(folder: Path, user: int, group: int) -> Account:
    for path in (folder, *folder.rglob("*")):
        os.chown(path, user, group, follow_symlinks=False)
    return Account(user=user, group=group)


def _can_write(prefix: tuple[str, ...], folder: Path) -> bool:
    """Try it: containers bar namespaces in several ways, and parents' permissions matter too."""
    check = "import os, sys; sys.exit(not os.access(sys.argv[1], os.W_OK | os.X_OK))"
    command = [*prefix, sys.executable, "-I", "-S", "-c", check, str(folder)]
    return subprocess.run(command, env=environment(), capture_output=True, check=False).returncode == 0
