"""Dask schedulers and workers as processes that can be killed, here or in network namespaces as hosts."""

import os
import shutil
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from support.processes import WAIT, environment, kill, marked

SRC = Path(__file__).parents[2] / "src"


class Host(NamedTuple):
    """Where a process runs: the command that enters it, and its address."""

    enter: tuple[str, ...]
    address: str


HERE = Host((), "127.0.0.1")


def free_port():
    """A port that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


class Cluster:
    """A scheduler at one address and its workers; leaving it ends them all."""

    def __init__(self, folder, host=HERE, **variables):
        self.folder = folder
        self.host = host
        self.variables = variables
        self.port = free_port()
        self.address = f"tcp://{host.address}:{self.port}"
        self.mark = f"{folder.name}-{time.monotonic_ns()}"
        self.workers = []
        self.log = (folder / f"{self.mark}.txt").open("w+")

    def __enter__(self):
        self.start_scheduler()
        return self

    def __exit__(self, *_):
        while left := marked(self.mark):
            for pid in left:
                kill(pid)
        for process in (self.scheduler, *self.workers):
            process.wait()
        self.log.close()

    def _start(self, host, *arguments, **variables):
        command = [*host.enter, sys.executable, "-m", "dask", *arguments]
        command += ["--host", host.address, "--dashboard-address", f"{host.address}:0", "--no-dashboard"]
        variables = environment(self.folder, RUN_MARK=self.mark) | self.variables | variables
        output = {"stdout": self.log, "stderr": self.log}
        return subprocess.Popen(command, env=variables, cwd=self.folder, **output)

    def start_scheduler(self):
        """Start the scheduler, at the same address each time, and wait until it listens."""
        self.scheduler = self._start(
            self.host, "scheduler", "--port", str(self.port), "--idle-timeout", "10 minutes"
        )
        end = time.monotonic() + WAIT
        while True:
            try:
                socket.create_connection((self.host.address, self.port), timeout=5).close()
                return
            except OSError:
                assert self.scheduler.poll() is None, self.said()
                assert time.monotonic() < end, "the scheduler does not listen"
                time.sleep(0.05)

    def start_worker(self, host=HERE, path=(), **variables):
        """Start a worker process; folders of ``path`` come before others where it looks for modules."""
        if path:
            variables["PYTHONPATH"] = os.pathsep.join(map(str, [*path, Path(__file__).parents[1], SRC]))
        options = ("--nthreads", "1", "--no-nanny", "--memory-limit", "0", "--name", str(len(self.workers)))
        scratch = ("--local-directory", str(self.folder))
        self.workers.append(self._start(host, "worker", self.address, *options, *scratch, **variables))
        return self.workers[-1]

    def living(self):
        """Worker processes that were not killed and did not end."""
        return [process for process in self.workers if process.poll() is None]

    def kill_scheduler(self):
        """Kill -9."""
        kill(self.scheduler.pid)
        self.scheduler.wait()

    def said(self):
        """What scheduler and workers have written."""
        self.log.flush()
        return Path(self.log.name).read_text()


def wait(condition, seconds=WAIT):
    """Wait until something is true."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it does not come true"
        time.sleep(0.1)


def copy_of_the_package(folder, file, old, new):
    """Copy the package with one change; return the folder to put on the path."""
    shutil.copytree(SRC / "kernsemble", folder / "kernsemble", ignore=shutil.ignore_patterns("__pycache__"))
    changed = folder / "kernsemble" / file
    text = changed.read_text(encoding="utf-8")
    assert old in text
    changed.write_text(text.replace(old, new, 1), encoding="utf-8")
    return folder


def ip(*arguments, check=True):
    """Run the command that makes network namespaces."""
    return subprocess.run(("ip", *arguments), check=check, capture_output=True, text=True, timeout=60)


@contextmanager
def network(n_hosts):
    """Network namespaces as hosts on one bridge; this one is among them, by its address on the bridge.

    Raises OSError with the reason where namespaces cannot be made. Nothing of it stays.
    """
    number = os.getpid() % 2**15
    bridge, subnet = f"kb{number}", f"10.{128 + number // 256}.{number % 256}"
    names = [f"kn{number}-{i}" for i in range(n_hosts)]
    try:
        ip("link", "add", bridge, "type", "bridge")
        ip("address", "add", f"{subnet}.1/24", "dev", bridge)
        ip("link", "set", bridge, "up")
        yield [_make_host(name, bridge, f"{subnet}.{i + 2}") for i, name in enumerate(names)]
    except (FileNotFoundError, subprocess.CalledProcessError) as error:
        raise OSError(getattr(error, "stderr", "") or str(error)) from None
    finally:
        if shutil.which("ip"):
            for name in names:
                ip("link", "delete", name, check=False)
                ip("netns", "delete", name, check=False)
            ip("link", "delete", bridge, check=False)


def _make_host(name, bridge, address):
    """A namespace with a cable, a pair of virtual interfaces, to the bridge; the near end has its name."""
    ip("netns", "add", name)
    ip("link", "add", name, "type", "veth", "peer", "name", "eth0", "netns", name)
    ip("link", "set", name, "master", bridge, "up")
    ip("-n", name, "address", "add", f"{address}/24", "dev", "eth0")
    ip("-n", name, "link", "set", "eth0", "up")
    ip("-n", name, "link", "set", "lo", "up")
    return Host(("ip", "netns", "exec", name), address)
