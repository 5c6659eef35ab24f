#!/bin/sh
# What deploy/ says to other programs, as those programs read it. check_deploy.sh SOURCE_DIR BUILD_DIR/apps
# Exits with 77 when a tool is missing, and names it; what could be checked was.
set -eu
deploy=$1/deploy
server=$2/lattice-gameserver/lattice-gameserver
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
missing=''

fail() {
  echo "FAILED: $1" >&2
  exit 1
}

# The server's own file.
"$server" --config "$deploy/server.toml" --print-config >"$dir/config" || fail 'server.toml is refused'
grep -q '^drain_s = 600  # .*server.toml:' "$dir/config" || fail 'server.toml does not count'

if command -v promtool >/dev/null; then
  promtool check rules "$deploy/prometheus/alerts.yml" || fail 'the alerts are refused'
  promtool check config --syntax-only "$deploy/prometheus/prometheus.yml" || fail 'prometheus.yml is refused'
else
  missing="$missing promtool"
fi

if command -v systemd-analyze >/dev/null; then
  sed "s|/usr/local/bin/lattice-gameserver|$server|" "$deploy/lattice-gameserver@.service" >"$dir/lattice-gameserver@arena.service"
  systemd-analyze verify "$dir/lattice-gameserver@arena.service" >"$dir/said" 2>&1 || fail "the unit: $(cat "$dir/said")"
  ! grep -q lattice-gameserver "$dir/said" || fail "the unit: $(cat "$dir/said")"
else
  missing="$missing systemd-analyze"
fi

# Alerts and dashboard ask for figures that there are.
# shellcheck disable=SC2016 # those are the quotes of the table
sed -n 's/^| `\([a-z_]*\)`.*/\1/p' "$1/docs/operate.md" | grep -E '^(lattice|process)_' >"$dir/figures"
grep -ohE '(lattice|process)_[a-z_]+' "$deploy/prometheus/alerts.yml" "$deploy/grafana/lattice.json" | sort -u |
  while read -r name; do
    grep -qxF -e "${name%_bucket}" "$dir/figures" || { echo "FAILED: nobody emits $name" >&2; exit 1; }
  done
# Every alert is explained.
sed -n 's/.*- alert: //p' "$deploy/prometheus/alerts.yml" | while read -r alert; do
  grep -qF -e "| \`$alert\` |" "$1/docs/operate.md" || { echo "FAILED: docs/operate.md does not explain $alert" >&2; exit 1; }
done
[ "$(grep -c -e '- alert:' "$deploy/prometheus/alerts.yml")" = 7 ] || fail 'there are not seven alerts'

[ -z "$missing" ] || { echo "skipped: without$missing"; exit 77; }
