/** What an address of the internet counts as: an IPv4 address itself, the /64 of an IPv6 one (spec#limits-ipv6). */
export function networkOf(ip: string): string {
  if (!ip.includes(':')) return ip;
  const [head = [], tail] = ip.split('::').map((part) => part.split(':').filter((group) => group !== ''));
  const zeros = Math.max(8 - head.length - (tail?.length ?? 0), 0);
  const groups = [...head, ...Array<string>(zeros).fill('0'), ...(tail ?? [])];
  return `${groups.slice(0, 4).join(':')}::/64`;
}
