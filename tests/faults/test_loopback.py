"""Nothing listens where others can reach it: the kernel, the laboratory and the scheduler are on loopback."""

import ast
import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from support.cluster_processes import free_port
from support.processes import environment, marked, told

PORT = free_port()
ROOT = Path(__file__).parents[2]


def listening(pids):
    """Addresses on which some processes accept connections, as the kernel tells (Linux)."""
    inodes = set()
    for entry in (entry for pid in pids for entry in Path(f"/proc/{pid}/fd").glob("*")):
        with contextlib.suppress(OSError):  # closed meanwhile
            inodes |= set(re.findall(r"socket:\[(\d+)\]", os.readlink(entry)))
    found = set()
    for name, kind, size in (("tcp", socket.AF_INET, 4), ("tcp6", socket.AF_INET6, 16)):
        for line in Path(f"/proc/net/{name}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A" and fields[9] in inodes:
                packed = bytes.fromhex(fields[1].split(":")[0])
                words = [packed[i : i + 4][::-1] for i in range(0, size, 4)]
                found.add(socket.inet_ntop(kind, b"".join(words)))
    return found


def served_by(command, environment, ready, seconds=280):
    """Start a server; return the addresses that its processes listen on."""
    server = subprocess.Popen(
        command,
        env=environment,
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        end = time.monotonic() + seconds
        while time.monotonic() < end and server.poll() is None:
            found = listening([server.pid])
            if len(found) >= ready:
                return found
            time.sleep(0.1)
        raise AssertionError("the server does not listen")
    finally:
        os.killpg(server.pid, signal.SIGKILL)
        server.wait()


def only_loopback(addresses):
    return all(address.startswith("127.") or address == "::1" for address in addresses)


@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="Linux tells who listens")
class TestListening:
    def test_every_interface_would_be_noticed(self):
        with socket.create_server(("", 0)):
            assert not only_loopback(listening([os.getpid()]))

    def test_kernel_of_a_notebook(self, tmp_path, figure):
        connection = tmp_path / "kernel.json"
        command = [sys.executable, "-m", "ipykernel_launcher", "-f", str(connection)]
        assert only_loopback(served_by(command, dict(os.environ), 1))
        figure("Supply", "servers that listen on loopback only", 1, 1, "notebook kernel, JupyterLab, Dask")

    @pytest.mark.slow
    def test_laboratory(self, tmp_path, figure):
        text = (ROOT / "Makefile").read_text()
        assert re.search(r"^LAB_IP \?= 127\.0\.0\.1$", text, re.MULTILINE)
        recipe = re.search(r"^lab:.*\n\t@(.*)$", text, re.MULTILINE).group(1)
        arguments = re.sub(r" \$\(if .*\)", "", recipe.replace("$(LAB_IP)", "127.0.0.1")).split()[1:]
        environment = {**os.environ, "JUPYTER_CONFIG_DIR": str(tmp_path), "JUPYTER_DATA_DIR": str(tmp_path)}
        command = [sys.executable, "-m", "jupyter", *arguments, "--no-browser", "--allow-root", "--port=0"]
        assert only_loopback(served_by(command, environment, 1))
        figure("Supply", "servers that listen on loopback only", 1, 1, "notebook kernel, JupyterLab, Dask")


@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="Linux tells who listens")
def test_cluster_of_the_guide_listens_where_it_is_told(tmp_path, figure):
    """Whoever reaches a worker runs code, too: its nanny and itself bind to the address of ``--host``."""
    guide = (ROOT / "docs" / "guide.md").read_text(encoding="utf-8")
    variables, found = {**os.environ, "RUN_MARK": str(tmp_path)}, set()
    with contextlib.ExitStack() as stack:
        for name, listeners in (("scheduler", 1), ("worker", 2)):
            (typed,) = re.findall(rf"^dask {name} .*$", guide, re.MULTILINE)
            assert "--host 10.0.0." in typed
            words = (
                re.sub(r"10\.0\.0\.\d", "127.0.0.1", typed).replace("8786", str(PORT)).replace("8787", "0")
            )
            server = subprocess.Popen(
                [sys.executable, "-m", *words.replace("--nworkers 8", "--nworkers 1").split()],
                env=variables, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                start_new_session=True,
            )  # fmt: skip
            stack.callback(server.wait)
            stack.callback(os.killpg, server.pid, signal.SIGKILL)
            end = time.monotonic() + 120
            while len(pids := marked(str(tmp_path))) < listeners or len(listening(pids)) < 1:
                assert time.monotonic() < end
                time.sleep(0.2)
        end = time.monotonic() + 120
        while time.monotonic() < end and not any("spawn_main" in told(pid) for pid in marked(str(tmp_path))):
            time.sleep(0.2)
        time.sleep(5)  # the worker opens its doors
        found = listening(marked(str(tmp_path)))
    assert found == {"127.0.0.1"}
    figure("Supply", "servers that listen on loopback only", 1, 1, "notebook kernel, JupyterLab, Dask")


ARTICLE = """
import sys
from pathlib import Path
from kernsemble.report import notebooks
notebooks.START_SECONDS = 5
try:
    notebooks.render_notebook(Path(sys.argv[1]), Path(sys.argv[2]), {"scale": "paper"})
except notebooks.NotebookError as error:
    print(error)
"""


def test_kernel_that_never_answers_is_named(slow_root, figure):
    """As it is where the loopback device is down, or a machine is too busy."""
    source = slow_root / "notebooks/slow_paper/slow_paper.ipynb"
    command = ["unshare", "--net", sys.executable, "-c", ARTICLE, source, slow_root / "out.ipynb"]
    done = subprocess.run(command, env=environment(slow_root), capture_output=True, text=True, timeout=250)
    if "unshare:" in done.stderr:
        pytest.skip(done.stderr)
    assert "its kernel did not answer in 5 seconds. See that the loopback device is up" in done.stdout
    figure("Faults", "a kernel that never answers", 1, 1)


def clusters(folder):
    """Calls that start a Dask cluster, with the options that they give."""
    for path in (ROOT / folder).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("LocalCluster"):
                yield path, {keyword.arg for keyword in node.keywords}


def test_schedulers_are_started_on_loopback_and_without_a_dashboard():
    """Where the project itself starts one, in code or in a test."""
    calls = [call for folder in ("src", "tests", "benchmarks", "docs", "tools") for call in clusters(folder)]
    assert calls
    for path, given in calls:
        assert None in given or {"host", "dashboard_address"} <= given, path


def test_site_needs_no_server():
    makefile = (ROOT / "Makefile").read_text()
    assert "http.server" not in makefile
    assert "open docs/_build/html/index.html" in makefile
