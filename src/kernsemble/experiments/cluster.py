"""Run batches on an existing Dask scheduler.

Workers need this package in the same revision and the same registered data; one that differs is refused with
a message, and its work goes to the others. Workers may come and go, and a scheduler that went away may come
back.
"""

from __future__ import annotations

import logging
import time
from typing import Any

from kernsemble.experiments.errors import PlanError
from kernsemble.experiments.plan import Job
from kernsemble.experiments.progress import note
from kernsemble.experiments.worker import WorkerMismatchError, run_batch

PATIENCE_SECONDS = 300
CONNECT_SECONDS = 10


class DaskCluster:
    """A Dask scheduler, by its address.

    Parameters
    ----------
    address : str
        Such as ``tcp://10.0.0.1:8786``.
    patience : float
        Seconds to wait for the scheduler or for usable workers before giving up.
    """

    def __init__(self, address: str, patience: float = PATIENCE_SECONDS) -> None:
        self.address = address
        self.patience = patience
        self.refused: dict[str, str] = {}
        self._addresses: list[str] = []
        self._asked = float("-inf")
        self._client = self._connect(CONNECT_SECONDS)

    def _connect(self, timeout: float) -> Any:
        try:
            from distributed import Client
        except ImportError:
            raise PlanError("--cluster needs the packages dask and distributed.") from None
        try:
            return Client(self.address, timeout=timeout, set_as_default=False)
        except (OSError, ValueError, TimeoutError) as error:
            raise PlanError(f"No Dask scheduler answers at {self.address!r}: {error}") from None

    def workers(self) -> list[str]:
        """Return the addresses of the workers that are not refused."""
        return [address for address in self._known() if address not in self.refused]

    def _known(self) -> list[str]:
        """Ask the scheduler for its workers, at most once a second."""
        if time.monotonic() - self._asked > 1:
            try:
                self._addresses = list(self._client.scheduler_info(n_workers=-1)["workers"])
            except (OSError, KeyError, ValueError):
                self._addresses = []
            self._asked = time.monotonic()
        return self._addresses

    def slots(self) -> int:
        """Return the number of usable worker processes: each runs one trial at a time."""
        return max(1, len(self.workers()))

    def submit(self, batch: list[Job]) -> Any:
        """Start a batch on any worker that is not refused."""
        allowed = self.workers() if self.refused else None
        return self._client.submit(run_batch_here, batch, pure=False, workers=allowed or None)

    def recover(self, error: BaseException | None) -> None:
        """Wait for the scheduler and for a usable worker; give up with a message."""
        started = time.monotonic()
        lost = error is not None or self._client.status != "running"
        while lost or not self.workers():
            if self._client.status in ("closed", "closing"):
                self._client = self._reconnect()
            if self._client.status == "running" and self.workers():
                return
            lost = False
            if time.monotonic() - started > self.patience:
                refusals = "".join(f"\n  refused {where}: {why}" for where, why in self.refused.items())
                raise PlanError(
                    f"No usable worker at {self.address} for {self.patience:.0f} seconds. "
                    "What was computed is saved: start workers and run the same command again." + refusals
                )
            time.sleep(min(1.0, self.patience / 10))

    def _reconnect(self) -> Any:
        try:
            return self._connect(5)
        except PlanError:
            return self._client

    def refuse(self, error: WorkerMismatchError) -> None:
        """Send no more work to the worker that the error names."""
        worker, _, why = str(error).partition(" | ")
        if worker not in self.refused:
            self.refused[worker] = why
            note(f"refused worker {worker}: {why}")
        self.recover(None)

    def stop(self) -> None:
        """Cancel what is under way and disconnect."""
        logging.getLogger("distributed").setLevel(logging.CRITICAL)
        self._client.close(timeout=2)


def run_batch_here(batch: list[Job]) -> Any:
    """Run a batch on a Dask worker; a refusal names the worker."""
    from distributed import get_worker

    try:
        return run_batch(batch)
    except WorkerMismatchError as error:
        raise WorkerMismatchError(f"{get_worker().address} | {error}") from None
