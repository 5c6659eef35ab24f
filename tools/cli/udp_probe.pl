# Tests UDP on this machine for ./lattice doctor, and prints one line "key=value" per fact.
# It is in Perl, because Debian's perl-base is always installed and nothing needs to be built first.
use strict;
use warnings;
use Socket qw(:DEFAULT inet_pton pack_sockaddr_in6 unpack_sockaddr_in6 SOL_SOCKET SO_RCVBUF SO_SNDBUF);

sub loopback {
  my ($family, $address) = @_;
  socket(my $receiver, $family, SOCK_DGRAM, 0) or return "socket: $!";
  bind($receiver, $address) or return "bind: $!";
  socket(my $sender, $family, SOCK_DGRAM, 0) or return "socket: $!";
  my $text = "lattice doctor";
  defined send($sender, $text, 0, getsockname($receiver)) or return "send: $!";
  my $ready = '';
  vec($ready, fileno($receiver), 1) = 1;
  return "no datagram arrived within 1 s" if select($ready, undef, undef, 1) < 1;
  defined recv($receiver, my $got, 64, 0) or return "recv: $!";
  return $got eq $text ? "ok" : "the datagram arrived changed";
}

print "udp_ipv4=", loopback(AF_INET, pack_sockaddr_in(0, INADDR_LOOPBACK)), "\n";
print "udp_ipv6=", loopback(AF_INET6, pack_sockaddr_in6(0, inet_pton(AF_INET6, "::1"))), "\n";

socket(my $probe, AF_INET, SOCK_DGRAM, 0) or exit 0;
# On Linux SOL_UDP is 17 and UDP_SEGMENT is 103. A kernel without GSO does not know the option.
my $segment = getsockopt($probe, 17, 103);
print "udp_gso=", defined $segment ? "yes" : "no", "\n";
