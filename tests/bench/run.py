#!/usr/bin/env python3
"""Measures flow against named peers, side by side, in interleaved pairs.

    cargo build --release && python3 tests/bench/run.py [--pairs 9] [--tasks 1000] [ROW ...]

Rows: floor noop bash chain fan start check worktree worktrees agent memory. Peers: ninja and make (Debian packages ninja-build,
make), git. Each row prints the medians of wall and CPU time of both and their ratio (flow / peer). `floor` is what the machine takes to
start `sh -c true`, and says how much it was disturbed. Nothing here is a test: figures depend on the machine, ratios much
less. With `--place` on another file system the same again: file creation may differ tenfold.
"""

import argparse, os, pathlib, shutil, statistics, subprocess, sys, tempfile, time

ROOT = pathlib.Path(__file__).resolve().parents[2]


def measure(argv, cwd):
    """Wall and CPU seconds of a command and all its children, and the largest memory of one of them in MB."""
    began = time.perf_counter()
    child = subprocess.Popen(argv, cwd=cwd, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    wall = time.perf_counter() - began
    child.returncode = status  # else it would be waited for once more
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
        f"{name:<36} wall {wall * 1e3:8.1f} / {peer_wall * 1e3:8.1f} ms = {wall / peer_wall:5.2f}   "
        f"cpu {cpu * 1e3:8.1f} / {peer_cpu * 1e3:8.1f} ms = {cpu / peer_cpu:5.2f}   "
        f"memory {memory:6.1f} / {peer_memory:6.1f} MB"
    )


def alone(name, argv, cwd, runs, prepare=lambda: None):
    """A row without a peer."""
    samples = []
    for number in range(runs + 1):
        prepare()
        sample = measure(argv, cwd)
        if number:
            samples.append(sample)
    wall, cpu, memory = (statistics.median(column) for column in zip(*samples))
    print(f"{name:<36} wall {wall * 1e3:8.1f} ms   cpu {cpu * 1e3:8.1f} ms   memory {memory:6.1f} MB")


def floor(starts=1000):
    """Microseconds that `sh -c true` takes, one at a time."""
    began = time.perf_counter()
    for _ in range(starts):
        os.waitpid(os.posix_spawn("/bin/sh", ["sh", "-c", "true"], os.environ), 0)
    print(f"{'floor, sh -c true':<36} {(time.perf_counter() - began) / starts * 1e6:.0f} microseconds")


def repository(folder, files):
    """A git repository with that many small files in it and one commit."""
    for number in range(files):
        path = folder / f"d{number // 100}" / f"f{number}.txt"
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"{number}\n")
    (folder / ".gitignore").write_text(".flow\n/tree*\n/plan.yaml\n")
    git = ["git", "-c", "user.name=bench", "-c", "user.email=bench@example.org"]
    for argv in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "files"]):
        subprocess.run(git + argv, cwd=folder, check=True)


def plans(folder, needs, shell="sh"):
    """The same graph of no-ops for flow, ninja and make; `needs[i]` are the numbers that task i waits for."""
    names = [f"t{number}" for number in range(len(needs))]
    with open(folder / "plan.yaml", "w") as plan:
        plan.write("flow: 1\n" + ("defaults: { shell: sh }\n" if shell == "sh" else "") + "tasks:\n")
        for name, waits in zip(names, needs):
            edges = f"needs: [{', '.join(names[wait] for wait in waits)}], " if waits else ""
            plan.write(f"  {name}: {{ {edges}run: 'true' }}\n")
    with open(folder / "build.ninja", "w") as build:
        # Without a default ninja builds whatever nothing needs; a phony target over all of them costs it their square.
        command = "true" if shell == "sh" else "exec bash --noprofile --norc -eo pipefail -c true"
        build.write(f"rule noop\n  command = {command}\n")
        for name, waits in zip(names, needs):
            edges = " | " + " ".join(names[wait] for wait in waits) if waits else ""
            build.write(f"build {name}: noop{edges}\n")
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
    options.add_argument("--place", help="the folder to work in; a temporary one otherwise")
    rows = ["floor", "noop", "bash", "chain", "fan", "start", "check", "worktree", "worktrees", "agent", "memory"]
    options.add_argument("rows", nargs="*", default=rows)
    chosen = options.parse_args()
    flow, ninja, make = chosen.flow, shutil.which("ninja"), shutil.which("make")
    if not ninja or not make:
        sys.exit("install the peers first: apt-get install ninja-build make")
    if len(chosen.rows) > 1:
        # Each in a process of its own: what a child has before it executes its program is ours, and counts as its memory.
        for row in chosen.rows:
            options = [f"--{name}={value}" for name, value in vars(chosen).items() if name != "rows" and value]
            subprocess.run([sys.executable, __file__, *options, row], check=True)
        return
    count = chosen.tasks
    graphs = {
        "noop": [[] for _ in range(count)],
        "bash": [[] for _ in range(count)],
        "chain": [[number - 1] if number else [] for number in range(count)],
        "fan": [[]] + [[0] for _ in range(count)] + [list(range(1, count + 1))],
    }
    for row in chosen.rows:
        with tempfile.TemporaryDirectory(dir=chosen.place) as place:
            folder = pathlib.Path(place)
            runs = folder / ".flow"
            clean = lambda: shutil.rmtree(runs, True)
            if row == "floor":
                floor()
            elif row in graphs:
                plans(folder, graphs[row], "bash" if row == "bash" else "sh")
                argv = [flow, "run", "plan.yaml", "-j2", "-o", "quiet"]
                peer = [ninja, "-j2"]
                compare(f"{row} {count}, ninja -j2", argv, peer, folder, chosen.pairs, clean)
            elif row == "start":
                plans(folder, [[]])
                compare("--version, make --version", [flow, "--version"], [make, "--version"], folder, chosen.pairs)
                compare("one task, ninja", [flow, "run", "plan.yaml", "-o", "quiet"], [ninja], folder, chosen.pairs)
            elif row == "check":
                for tasks, edges in ((10_000, 30_000), (100_000, 300_000)):
                    plans(folder, layered(tasks, edges))
                    for name, peer in (("make -n", [make, "-n"]), ("ninja -n", [ninja, "-n"])):
                        compare(f"check {tasks}/{edges}, {name}", [flow, "check", "plan.yaml"], peer, folder, max(3, chosen.pairs // 3))
            elif row == "worktree":
                repository(folder, 10_000)
                (folder / "plan.yaml").write_text(
                    "flow: 1\ndefaults: { shell: sh, isolation: worktree }\ntasks:\n  t: { run: 'true' }\n"
                )
                argv = [flow, "run", "plan.yaml", "-o", "quiet"]
                peer = ["sh", "-c", "git worktree add -q --detach tree && git worktree remove tree"]
                compare("worktree 10000 files, git", argv, peer, folder, chosen.pairs)
            elif row == "worktrees":
                repository(folder, 10_000)
                (folder / "plan.yaml").write_text(
                    "flow: 1\ndefaults: { shell: sh, isolation: worktree }\ntasks:\n  t: { for_each: [1, 2, 3, 4, 5, 6, 7, 8], run: 'true' }\n"
                )
                argv = [flow, "run", "plan.yaml", "-j8", "-o", "quiet"]
                one = "git worktree add -q --detach tree$i && git worktree remove tree$i"
                peer = ["sh", "-ec", f"for i in 1 2 3 4 5 6 7 8; do {one}; done"]
                compare("8 worktrees at once, git one by one", argv, peer, folder, max(3, chosen.pairs // 3))
            elif row == "agent":
                (folder / "plan.yaml").write_text("flow: 1\ntasks:\n  t: { prompt: read it }\n")
                (folder / "note.txt").write_text("a note\n")
                (folder / "model.yaml").write_text(
                    "t:\n  - call: Read\n    with: { file_path: note.txt }\n  - say: done\n"
                )
                argv = [flow, "run", "plan.yaml", "-o", "quiet", "--model-script", "model.yaml"]
                alone("agent of 2 turns, 1 call", argv, folder, chosen.pairs, clean)
            elif row == "memory":
                plans(folder, [[] for _ in range(100)])
                alone("100 tasks", [flow, "run", "plan.yaml", "-j2", "-o", "quiet"], folder, chosen.pairs, clean)
            else:
                sys.exit(f"there is no row `{row}`")


if __name__ == "__main__":
    main()
