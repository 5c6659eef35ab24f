#!/bin/sh
# Cookies, claims and reset tokens are compared in constant time (docs/spec/handshake.md, S-2): in the layers that
# hold them, no == and no != stands beside their names. check_constant_time.sh TREE
# Prints "file:line:code" for each violation and fails when there is one.
set -eu
cd "$1"
names='(token_id|challenge_nonce|reset_token|cookie|claim->client|claim\.client|cookie_secret)'
if grep -rnE "$names[^;,(]*[!=]=|[!=]= *[A-Za-z_.>-]*$names" src/transport/connection src/transport/crypto src/transport/wire \
  --include='*.cpp' --include='*.h' | grep -vE '[!=]= *(nullptr|[A-Za-z]+::kNone)'; then
  echo 'compare these with crypto::equal_constant_time()' >&2
  exit 1
fi
