#!/usr/bin/env bash
# Makes the run folders of one version of the program: make.sh PROGRAM VERSION, such as make.sh target/release/flow v2.
# README.md beside it says what they are for. Needs bash, git and GNU tools.
set -euo pipefail

program=$(realpath "$1")
kept=$(realpath "$(dirname "$0")")/$2
mkdir "$kept"

# Waits until something holds.
until_holds() { until eval "$1"; do sleep 0.02; done; }

# Kills the engine, and nothing of what it had started.
kill_engine() {
    kill -KILL "$1"
    wait "$1" || true
}

repository() {
    git init -q -b main
    git config user.name Tester
    git config user.email tester@localhost
    git config core.logAllRefUpdates false
    git add -A
    git commit -q -m start
}

# Begins a scratch project, as tests/support/flow.rs does, and goes there.
begin() {
    name=$1
    root=$(mktemp -d /tmp/flow-logs-XXXXXX)
    mkdir "$root/work" "$root/home" "$root/tmp" "$root/template"
    export HOME=$root/home XDG_STATE_HOME=$root/home/state XDG_CONFIG_HOME=$root/home/config
    export TMPDIR=$root/tmp FLOW_POLICY_DIR=$root/home/policy LANG=C.UTF-8
    export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 GIT_TEMPLATE_DIR=$root/template
    cd "$root/work"
}

# Keeps the project and its home: without names that another repository would not take (`.git`, `.flow`), and with words
# for the place, the run and the folder of the project's trees, so that a test can say which.
keep() {
    local run
    run=$(basename .flow/runs/*)
    mkdir "$kept/$name"
    cp -a "$root/work" "$kept/$name/"
    test ! -e "$root/home/state" || cp -a "$root/home" "$kept/$name/"
    # What is still alive looks for this file.
    touch "$root/work/go"
    cd "$kept/$name"
    find . -depth \( -name .git -o -name .flow -o -name .gitignore \) |
        while read -r path; do mv "$path" "${path%/*}/dot-${path##*/.}"; done
    local names=(-e "s|$root|@ROOT@|g" -e "s|$run|@RUN@|g" -e 's/work-[0-9a-f]\{12\}/@TREES@/g')
    find . -depth -mindepth 1 | while read -r path; do
        to=$(basename "$path" | sed "${names[@]}")
        test "${path##*/}" = "$to" || mv "$path" "${path%/*}/$to"
    done
    find . -type f -print0 | xargs -0 grep -IlZ '' | xargs -0r sed -i "${names[@]}"
    cd "$kept"
    echo "$name: $run"
}

# Everything that ends well, in every form of output.
finished() {
    begin finished
    cat > plan.yaml <<'PLAN'
flow: 1
name: finished
description: Every kind of task, and all of them end well.
inputs:
  who: { type: string, default: world }
  times: { type: integer, default: 2 }
env: { GREETING: hello }
concurrency: 1
pools: { disk: 1 }
tasks:
  greet: { description: "Greet ${{ inputs.who }}", run: 'echo "$GREETING ${{ inputs.who }}"; echo aside >&2', pool: disk }
  facts:
    run: |
      echo '{"name": "flow", "parts": ["core", "run", "cli"]}'
    output: { type: object, required: [name, parts], properties: { name: { type: string }, parts: { type: array } } }
  part: { for_each: "${{ tasks.facts.output.parts }}", run: 'printf "%s\n" ${{ item }} two', output: lines, max_parallel: 1 }
  pairs: { run: 'echo "count=3" >> "$FLOW_OUTPUT"; echo said', output: pairs }
  build:
    matrix: { system: [linux, mac], profile: [debug, release], exclude: [{ system: mac, profile: debug }] }
    run: echo ${{ matrix.system }}-${{ matrix.profile }}
  shaky: { run: 'test -f tried || { touch tried; echo not yet; exit 3; }', retry: { max: 2, delay: 10ms, jitter: false } }
  left_out: { if: inputs.times > 5, run: echo never }
  after_left_out: { needs: [left_out], run: "echo ${{ tasks.left_out.status }}" }
  allowed: { run: 'echo broken >&2; exit 4', continue_on_error: true }
  told: { needs: { allowed: done }, run: 'echo ${{ tasks.allowed.exit_code }}' }
  made: { run: 'mkdir -p site; echo page > site/index.html; echo a > site/a.txt', artifacts: 'site/*', expect: { files: [site/index.html] } }
  large: { run: [printf, '"%066000d"', "7"], output: json }
  counted: { run: 'wc -l < ${{ tasks.greet.stdout | file }}; echo ${{ tasks.large.output | length }}', expect: { that: "'66000' in task.text" } }
  nobody: { for_each: [], run: echo never }
outputs:
  greeting: ${{ tasks.greet.output }}
  parts: ${{ tasks.part.output }}
  count: ${{ tasks.pairs.output.count }}
  built: ${{ tasks.build.results | map(attribute="key") | list }}
PLAN
    "$program" run plan.yaml -i who=reader
    keep
}

# Everything that can end badly, and what follows from it.
failed() {
    begin failed
    cat > plan.yaml <<'PLAN'
flow: 1
name: failed
concurrency: 1
tasks:
  fine: { run: 'echo fine >> ran; echo fine' }
  code: { run: 'echo code >> ran; seq 1 5; echo the reason >&2; test -f go || exit 3' }
  signal: { run: 'echo signal >> ran; kill -TERM $$' }
  late: { run: 'echo late >> ran; test -f go || sleep 100; echo null', timeout: { run: 200ms, grace: 1s }, output: json }
  form: { run: 'echo form >> ran; echo "{"', output: json }
  missing: { run: 'echo missing >> ran; test ! -f go || touch it.txt', artifacts: it.txt }
  verdict: { run: 'echo verdict >> ran; echo bad', expect: { that: task.output == "good" } }
  broken: { run: [no-such-program, x] }
  # Alone: nothing else runs while it waits.
  tried: { needs: { code: done, signal: done, form: done, missing: done, verdict: done, broken: done, read: done, each: done, quick: done, later: done, tidy: done }, run: 'echo tried >> ran; exit 1', retry: { max: 1, delay: 10ms, jitter: false } }
  read: { run: 'echo read >> ran; echo ${{ tasks.late.output.name }}', needs: { late: done } }
  each: { for_each: [x, y, two words], run: 'echo each-${{ item }} >> ran; test ${{ item }} != y || test -f go', max_parallel: 1 }
  quick: { for_each: [a, b, c], run: 'echo quick-${{ item }} >> ran; test ${{ item }} != a || test -f go', max_parallel: 1, fail_fast: true }
  after: { needs: [code, each], run: 'echo after >> ran; echo ${{ tasks.each.output | length }}' }
  later: { needs: [after], run: 'echo later >> ran' }
  tidy: { needs: [code], if: failure(), run: 'echo tidy >> ran' }
outputs: { fine: "${{ tasks.fine.output }}", after: "${{ tasks.after.output }}" }
PLAN
    "$program" run plan.yaml || test $? = 1
    keep
}

# The engine is killed: something is done, something under way, something waits.
killed() {
    begin killed
    cat > plan.yaml <<'PLAN'
flow: 1
name: killed
concurrency: 4
tasks:
  first: { run: 'echo first >> ran; echo first' }
  facts: { run: 'echo facts >> ran; echo "[\"x\", \"y\", \"z\"]"', output: json }
  each: { for_each: "${{ tasks.facts.output }}", run: 'echo each-${{ item }} >> ran; echo ${{ item }}; test ${{ item }} != y || until test -f go; do sleep 0.02; done', max_parallel: 1 }
  live: { needs: [first], run: 'echo live >> ran; echo begun; echo aside >&2; until test -f go; do sleep 0.02; done; echo over' }
  once: { needs: [first], run: 'echo once >> ran; until test -f go; do sleep 0.02; done', on_lost: fail }
  patient: { needs: [first], run: 'echo patient >> ran; test -f go', retry: { max: 1, delay: 1d, jitter: false } }
  bad: { needs: [first], run: 'echo bad >> ran; exit 2' }
  blocked: { needs: [bad], run: 'echo blocked >> ran' }
  after: { needs: [each, live], run: 'echo after >> ran; echo ${{ tasks.each.output | join("-") }}' }
  told: { needs: { once: done }, run: 'echo told >> ran; echo ${{ tasks.once.status }}' }
outputs: { after: "${{ tasks.after.output }}", told: "${{ tasks.told.output }}" }
PLAN
    "$program" run plan.yaml &
    until_holds 'test "$(grep -c -e each-y -e live -e once ran)" = 3' 2> /dev/null
    until_holds 'grep -q task_retry .flow/runs/*/events.jsonl && grep -q "\"blocked\"" .flow/runs/*/events.jsonl'
    kill_engine $!
    keep
}

# One task is stopped by a person, then the run.
stopped() {
    begin stopped
    cat > plan.yaml <<'PLAN'
flow: 1
name: stopped
concurrency: 4
tasks:
  first: { run: 'echo first >> ran' }
  one: { needs: [first], run: 'echo one >> ran; echo begun; until test -f go; do sleep 0.02; done' }
  two: { needs: [first], run: 'echo two >> ran; until test -f go; do sleep 0.02; done' }
  after: { needs: [one], run: 'echo after >> ran' }
  waits: { needs: [two], run: 'echo waits >> ran' }
PLAN
    "$program" run plan.yaml &
    until_holds 'test "$(grep -c -e one -e two ran)" = 2' 2> /dev/null
    "$program" stop latest one
    "$program" stop latest
    wait $! || test $? = 143
    keep
}

# It failed, was resumed, failed again, and was ended by a signal: three epochs, and not all of the plan.
resumed() {
    begin resumed
    cat > plan.yaml <<'PLAN'
flow: 1
name: resumed
concurrency: 1
tasks:
  first: { run: 'echo first >> ran; echo 1' }
  two: { needs: [first], run: 'echo two >> ran; test -f go' }
  three: { needs: [two], run: 'echo three >> ran' }
  each: { needs: [first], for_each: [x, y], run: 'echo each-${{ item }} >> ran; test ${{ item }} = x || test -f more' }
  slow: { run: 'echo slow >> ran; test ! -f more || until test -f go; do sleep 0.02; done; test -f go' }
  apart: { run: 'echo apart >> ran' }
PLAN
    "$program" run plan.yaml --until three --until each --until slow --strict || test $? = 1
    "$program" retry latest 'each[y]' || test $? = 1
    touch more
    "$program" resume latest &
    until_holds 'test "$(grep -c slow ran)" = 2'
    kill -TERM $!
    wait $! || test $? = 143
    keep
}

# Private trees: brought home in every way, and one of each kind open when the engine is killed.
trees() {
    begin trees
    echo base > a.txt
    cat > plan.yaml <<'PLAN'
flow: 1
name: trees
concurrency: 3
defaults: { isolation: worktree }
tasks:
  branch: { run: 'echo branch > branch.txt', merge: branch }
  apply: { needs: [branch], run: 'echo apply > apply.txt', merge: apply }
  squash: { needs: [apply], run: 'echo squash > squash.txt', merge: { how: squash, message: "feat: squash" } }
  patch: { needs: [squash], run: 'echo patch > patch.txt', merge: patch }
  clean: { needs: [patch], run: 'cat a.txt' }
  failed: { needs: [clean], run: 'echo failed > failed.txt; exit 1', merge: apply, continue_on_error: true }
  copied: { needs: { failed: done }, run: 'echo copied > copied.txt', isolation: copy, merge: apply }
  open: { needs: [copied], run: 'echo open > open.txt; echo more >> a.txt; echo open >> "${{ run.dir }}/../../../ran"; until test -f "${{ run.dir }}/../../../go"; do sleep 0.02; done', merge: apply }
  lost: { needs: [copied], run: 'echo lost > lost.txt; echo lost >> "${{ run.dir }}/../../../ran"; until test -f "${{ run.dir }}/../../../go"; do sleep 0.02; done', merge: branch, on_lost: fail }
  copy: { needs: [copied], run: 'echo copy > copy.txt; echo copy >> "${{ run.dir }}/../../../ran"; until test -f "${{ run.dir }}/../../../go"; do sleep 0.02; done', isolation: copy, merge: apply }
  after: { needs: [open, copy], isolation: none, run: cat a.txt apply.txt squash.txt copied.txt open.txt copy.txt }
outputs: { branch: "${{ tasks.branch.branch }}", after: "${{ tasks.after.output }}" }
PLAN
    repository
    "$program" run plan.yaml &
    until_holds 'test "$(wc -l < ran)" = 3' 2> /dev/null
    kill_engine $!
    keep
}

# Agents: with tools, a refused call, a fork, an output in a form, work in a tree; one was cut off in the middle of its
# conversation, and one with a call under way.
agents() {
    begin agents
    echo forty-two > a.txt
    mkdir agents
    cat > agents/reader.md <<'AGENT'
---
name: reader
description: Reads.
tools: [Read, Bash]
---
Read, and say what it says.
AGENT
    cat > plan.yaml <<'PLAN'
flow: 1
name: agents
concurrency: 2
briefing: Small steps.
tasks:
  read: { agent: reader, prompt: Look at a.txt., tools: [Read] }
  judge:
    needs: [read]
    prompt: "Is it good? ${{ tasks.read.output }}"
    output: { type: object, required: [verdict], properties: { verdict: { enum: [good, bad] } } }
  more: { needs: [judge], fork: read, prompt: What did you leave out? }
  edit: { needs: [more], prompt: Write b.txt., tools: [Write], isolation: worktree, merge: apply, checks: test -e b.txt }
  wrong: { needs: [edit], prompt: Say nothing. }
  cut: { needs: [edit], agent: reader, prompt: Look twice., on_lost: retry }
  held: { needs: [edit], agent: reader, prompt: Wait., idempotent: true, permissions: { allow: [Bash] } }
  given_up: { needs: { wrong: done }, prompt: Think., on_lost: fail }
  later: { needs: [cut, held], fork: cut, prompt: And now? }
outputs: { verdict: "${{ tasks.judge.output.verdict }}", later: "${{ tasks.later.output }}" }
PLAN
    cat > model.yaml <<'MODEL'
read:
  - { say: I look., calls: [{ call: Read, with: { file_path: a.txt } }, { call: Bash, with: { command: make } }], usage: { input: 100, output: 10 } }
  - { say: It says forty-two., usage: { input: 120, output: 20, cache_read: 90, cache_write: 5 } }
judge:
  - { call: StructuredOutput, with: { verdict: fine }, usage: { input: 100, output: 10 } }
  - { call: StructuredOutput, with: { verdict: good }, usage: { input: 110, output: 10 } }
more:
  - { say: Nothing., usage: { input: 140, output: 5 } }
edit:
  - { call: Write, with: { file_path: b.txt, content: "b\n" }, usage: { input: 100, output: 10 } }
  - { say: It is written., usage: { input: 110, output: 10 } }
wrong:
  - { fail: { status: 400, message: bad request } }
cut:
  - { say: First look., call: Read, with: { file_path: a.txt }, usage: { input: 100, output: 10 } }
  - { hang: true }
held:
  - calls:
      - { call: Read, with: { file_path: a.txt } }
      - { call: Bash, with: { command: 'echo held >> ran; until test -f go; do sleep 0.02; done' } }
    usage: { input: 100, output: 10 }
given_up:
  - { hang: true }
MODEL
    repository
    # Two at once do not hold the three that are to be under way.
    "$program" run plan.yaml --model-script model.yaml -j 3 &
    until_holds 'grep -q held ran && grep -q "\"turn\":2" .flow/runs/*/tasks/cut/wire.jsonl' 2> /dev/null
    until_holds 'grep -q request_began .flow/runs/*/tasks/given_up/wire.jsonl' 2> /dev/null
    kill_engine $!
    keep
}

for each in finished failed killed stopped resumed trees agents; do "$each"; done
