#!/usr/bin/env bash
# Makes a small repository with three flaky tests and a steady one: demo.sh DIR
set -euo pipefail
dir=${1:?usage: demo.sh DIR}
mkdir -p "$dir"
cd "$dir"
git init -q -b main
git config user.name Demo
git config user.email demo@localhost
mkdir bin tests
echo '.cache*' > .gitignore
cat > bin/names <<'SH'
#!/usr/bin/env bash
# Who is here, in no particular order.
shuf -e ada grace
SH
cat > bin/quota <<'SH'
#!/usr/bin/env bash
# Stands for a service out there, which refuses every second call on average.
exit $((RANDOM % 2))
SH
cat > tests/sum.sh <<'SH'
test $((2 + 2)) -eq 4
SH
cat > tests/order.sh <<'SH'
test "$(bin/names)" = $'ada\ngrace'
SH
cat > tests/cache.sh <<'SH'
file=.cache
if [ -e "$file" ]; then
  echo "$file is there before the test has made it" >&2
  rm "$file"
  exit 1
fi
echo warm > "$file"
test "$(cat "$file")" = warm
SH
cat > tests/quota.sh <<'SH'
bin/quota || { echo "the service refused" >&2; exit 1; }
SH
chmod +x bin/*
git add -A
git commit -q -m "Four tests"
