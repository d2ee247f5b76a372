"""Become another program that dies with the process that started it.

Run as a script: `tether.py SIGNAL PARENT USER GROUP FOLDER PROGRAM [ARGUMENT ...]`. A script between the two,
rather than a `preexec_fn`, because code run in a forked copy of a process with threads may hang.
"""

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1


def main() -> None:
    """Become USER (-1: stay), ask the kernel for SIGNAL at the end of PARENT, enter FOLDER, exec.

    In this order: a change of user takes the request for the signal back. Outside Linux there is no such request.
    """
    death_signal, parent, user, group = (int(word) for word in sys.argv[1:5])
    folder, *command = sys.argv[5:]
    if user >= 0:
        os.setgroups([])
        os.setgid(group)
        os.setuid(user)
    if sys.platform == "linux":
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.prctl(_PR_SET_PDEATHSIG, death_signal, 0, 0, 0) != 0:
            sys.exit(f"prctl: {os.strerror(ctypes.get_errno())}")
        if os.getppid() != parent:  # it ended before the call above: no signal would come
            sys.exit("the starter is gone")
    # Ignored and blocked signals survive exec: Python ignores these two, a caller may block others.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    try:
        os.chdir(folder)
        os.execv(command[0], command)  # noqa: S606 - no shell wanted
    except OSError as error:
        sys.exit(
            f"user {os.getuid()} can't reach {folder} and {command[0]} ({error.strerror}): use a folder and "
            "a checkout that others can reach, not in root's home, or start Roomkey as an ordinary user"
        )


if __name__ == "__main__":
    main()
