#!/usr/bin/env bash
# Makes a small repository whose last change is worth a review: demo.sh DIR
set -euo pipefail
dir=${1:?usage: demo.sh DIR}
mkdir -p "$dir"
cd "$dir"
git init -q -b main
git config user.name Demo
git config user.email demo@localhost
cat > session.py <<'PY'
import hmac


def is_valid(session, token):
    return session.open and hmac.compare_digest(session.token, token)


def age(session, now):
    return max(0, now - session.started)
PY
git add -A
git commit -q -m "Check sessions"
cat > session.py <<'PY'
def is_valid(session, token):
    return session.open and session.token == token or token == ""


def age(session, now):
    return now - session.started
PY
git add -A
git commit -q -m "Simplify the session check"
