#!/usr/bin/env python3
"""Measures flow against named peers, side by side, in interleaved pairs.

    cargo build --release && python3 tests/bench/run.py [--pairs 9] [--tasks 1000] [ROW ...]

Rows: noop chain fan start check. Peers: ninja and make (Debian packages ninja-build, make). Each row prints the medians of
wall and CPU time of both and their ratio. Nothing here is a test: figures depend on the machine, ratios much less.
"""

import argparse, os, pathlib, shutil, statistics, subprocess, sys, tempfile, time

ROOT = pathlib.Path(__file__).resolve().parents[2]


def measure(argv, cwd):
    """Wall and CPU seconds of a command and all its children, and the largest memory of one of them in MB."""
    began = time.perf_counter()
    pid = subprocess.Popen(argv, cwd=cwd, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).pid
    _, status, usage = os.wait4(pid, 0)
    wall = time.perf_counter() - began
    if status != 0:
        sys.exit(f"{argv} failed with status {status} in {cwd}")
    return wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def compare(name, ours, peer, cwd, pairs, prepare=lambda: None):
    samples = {"flow": [], "peer": []}
    for pair in range(pairs + 1):
        order = [("flow", ours), ("peer", peer)]
        for who, argv in order if pair % 2 else reversed(order):
            prepare()
            sample = measure(argv, cwd)
            if pair:  # the first pair warms caches
                samples[who].append(sample)
    middle = {who: [statistics.median(column) for column in zip(*rows)] for who, rows in samples.items()}
    (wall, cpu, memory), (peer_wall, peer_cpu, peer_memory) = middle["flow"], middle["peer"]
    print(
        f"{name:<28} wall {wall * 1e3:8.1f} / {peer_wall * 1e3:8.1f} ms = {wall / peer_wall:5.2f}   "
        f"cpu {cpu * 1e3:8.1f} / {peer_cpu * 1e3:8.1f} ms = {cpu / peer_cpu:5.2f}   "
        f"memory {memory:6.1f} / {peer_memory:6.1f} MB"
    )


def plans(folder, needs):
    """The same graph of no-ops for flow, ninja and make; `needs[i]` are the numbers that task i waits for."""
    names = [f"t{number}" for number in range(len(needs))]
    with open(folder / "plan.yaml", "w") as plan:
        plan.write("flow: 1\ndefaults: { shell: sh }\ntasks:\n")
        for name, waits in zip(names, needs):
            edges = f"needs: [{', '.join(names[wait] for wait in waits)}], " if waits else ""
            plan.write(f"  {name}: {{ {edges}run: 'true' }}\n")
    with open(folder / "build.ninja", "w") as build:
        build.write("rule noop\n  command = true\n")
        for name, waits in zip(names, needs):
            edges = " | " + " ".join(names[wait] for wait in waits) if waits else ""
            build.write(f"build {name}: noop{edges}\n")
        build.write(f"build all: phony {' '.join(names)}\ndefault all\n")
    with open(folder / "Makefile", "w") as build:
        build.write(f".PHONY: all {' '.join(names)}\nall: {' '.join(names)}\n")
        for name, waits in zip(names, needs):
            build.write(f"{name}: {' '.join(names[wait] for wait in waits)}\n\t@sh -c true\n")


def layered(tasks, edges, width=100):
    """A layered graph: each task needs some of the layer before its own."""
    per = edges // tasks
    return [
        [] if number < width else sorted({(number // width - 1) * width + (number * 7 + step * 13) % width for step in range(per)})
        for number in range(tasks)
    ]


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--pairs", type=int, default=9)
    options.add_argument("--tasks", type=int, default=1000)
    options.add_argument("--flow", default=str(ROOT / "target/release/flow"))
    options.add_argument("rows", nargs="*", default=["noop", "chain", "fan", "start", "check"])
    chosen = options.parse_args()
    flow, ninja, make = chosen.flow, shutil.which("ninja"), shutil.which("make")
    if not ninja or not make:
        sys.exit("install the peers first: apt-get install ninja-build make")
    count = chosen.tasks
    graphs = {
        "noop": [[] for _ in range(count)],
        "chain": [[number - 1] if number else [] for number in range(count)],
        "fan": [[]] + [[0] for _ in range(count)] + [list(range(1, count + 1))],
    }
    print("medians; flow / peer = ratio")
    for row in chosen.rows:
        with tempfile.TemporaryDirectory() as place:
            folder = pathlib.Path(place)
            if row in graphs:
                plans(folder, graphs[row])
                runs = folder / ".flow"
                argv = [flow, "run", "plan.yaml", "-j2", "-o", "quiet"]
                peer = [ninja, "-j2"]
                compare(f"{row} {count}, ninja -j2", argv, peer, folder, chosen.pairs, lambda: shutil.rmtree(runs, True))
            elif row == "start":
                plans(folder, [[]])
                compare("--version, make --version", [flow, "--version"], [make, "--version"], folder, chosen.pairs)
                compare("one task, ninja", [flow, "run", "plan.yaml", "-o", "quiet"], [ninja], folder, chosen.pairs)
            elif row == "check":
                for tasks, edges in ((10_000, 30_000), (100_000, 300_000)):
                    plans(folder, layered(tasks, edges))
                    for name, peer in (("make -n", [make, "-n"]), ("ninja -n", [ninja, "-n"])):
                        compare(f"check {tasks}/{edges}, {name}", [flow, "check", "plan.yaml"], peer, folder, max(3, chosen.pairs // 3))


if __name__ == "__main__":
    main()
