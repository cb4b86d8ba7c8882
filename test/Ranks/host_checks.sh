# Runs on the first of two hosts whose frames take 20 ms: a name, an address, and a connection to the second host, whose
# request and answer take at least 40 ms.
set -e
[ "$(hostname)" = attune1 ]
[ "$("$ATTUNE_HOSTS_SHELL" -x 10.77.0.2 hostname)" = attune2 ]
"$ATTUNE_HOSTS_SHELL" 10.77.0.2 "python3 -c '
import socket
server = socket.create_server((\"10.77.0.2\", 7000))
server.settimeout(10)
print(\"ready\", flush=True)
peer, _ = server.accept()
peer.sendall(peer.recv(100))
'" | {
  read -r ready
  python3 -c '
import socket, time
peer = socket.create_connection(("10.77.0.2", 7000))
start = time.monotonic()
peer.sendall(b"hello")
assert peer.recv(100) == b"hello"
assert time.monotonic() - start >= 0.04
'
}
