"""Tasks on a cluster, and their results as they come."""

from __future__ import annotations

import os
from typing import Any, Callable, Iterator, Sequence

from .._call import Progress, _listener

#: Times that Ray runs a task again whose worker has died.
RETRIES = 8


def cluster() -> Any:
    """Ray, connected to the cluster that there is, or to a local one."""
    import ray

    if not ray.is_initialized():
        ray.init(log_to_driver=False, include_dashboard=False, configure_logging=False)
    return ray


def one_thread() -> None:
    """A task has one processor: what it calls keeps to it."""
    os.environ.setdefault("RAYON_NUM_THREADS", "1")


def each(
    ray: Any, name: str, function: Callable[..., Any], calls: Sequence[tuple[Any, ...]], progress: Progress
) -> Iterator[tuple[int, Any]]:
    """Runs a function for each list of arguments, one processor each, and yields the results as they come, by place.

    When the iterator is closed, or Ctrl-C ends it, tasks that have not ended are cancelled.
    """
    task = ray.remote(num_cpus=1, max_retries=RETRIES)(function)
    tell, close = _listener(progress)
    waiting = {task.remote(*arguments): place for place, arguments in enumerate(calls)}
    total = len(waiting)
    try:
        while waiting:
            ended, _ = ray.wait(list(waiting), num_returns=1, timeout=0.1)
            for reference in ended:
                place = waiting.pop(reference)
                try:
                    result = ray.get(reference)
                except ray.exceptions.RayTaskError as error:
                    # A refusal is the same here and there.
                    raise error.cause from None
                yield place, result
            if tell is not None:
                tell(name, total - len(waiting), total)
    finally:
        for reference in waiting:
            ray.cancel(reference, force=True)
        close()
