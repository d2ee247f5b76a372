"""`python -m providers.catcher`: prints one line with its address once it listens."""

import argparse
import sys

from providers.catcher.server import serve


def main() -> None:
    """Read the options and serve."""
    parser = argparse.ArgumentParser(prog="python -m providers.catcher", description="A mail server to try.")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--smtp-port", type=int, default=2525, help="0 takes a free one")
    parser.add_argument("--http-port", type=int, default=8025, help="0 takes a free one")
    options = parser.parse_args()

    def ready(port: int) -> None:
        sys.stdout.write(f"listening on http://{options.host}:{port}\n")
        sys.stdout.flush()

    serve(options.host, options.smtp_port, options.http_port, ready)


if __name__ == "__main__":
    main()
