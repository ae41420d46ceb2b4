"""What the executors use up, looked at from outside twice a second."""
import os
import threading
import time

PAGE = os.sysconf("SC_PAGE_SIZE")
STALL = 1.0  # seconds that the machine gave us no time; nor, perhaps, the executors


def read(path):
    try:
        with open(path, encoding="ascii", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def zombies(pid):
    """Children that nobody has waited for."""
    count = 0
    for child in read("/proc/%d/task/%d/children" % (pid, pid)).split():
        count += ") Z " in read("/proc/%s/stat" % child)
    return count


class Sampler(threading.Thread):
    def __init__(self, world, executors, done):
        super().__init__(daemon=True)
        self.world = world
        self.executors = executors
        self.done = done

    def run(self):
        last = time.monotonic()
        while not self.done.wait(0.5):
            late, last = time.monotonic() - last - 0.5, time.monotonic()
            if late > STALL:
                self.world.lines.write("N", "stalled", attempt=round(late * 1000))
            for executor in self.executors:
                process = executor.process
                if process and process.poll() is None:
                    self.sample(executor.name, process.pid)

    def sample(self, name, pid):
        try:
            rss = int(read("/proc/%d/statm" % pid).split()[1]) * PAGE // 1024
            files = len(os.listdir("/proc/%d/fd" % pid))
            log = self.world.store.log_size()
        except (OSError, IndexError, ValueError):
            return
        self.world.lines.write("N", "sample", node=name, pid=pid, attempt=rss, token=files,
                               priority=log, retries=zombies(pid))
