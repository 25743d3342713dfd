/** How an IP address is counted: an IPv4 address by itself, an IPv6 address by its /64 network (spec#limits-ipv6). */
export function networkOf(ip: string): string {
  if (!ip.includes(':')) return ip;
  const [head = [], tail] = ip.split('::').map((part) => part.split(':').filter((group) => group !== ''));
  const zeros = Math.max(8 - head.length - (tail?.length ?? 0), 0);
  const groups = [...head, ...Array<string>(zeros).fill('0'), ...(tail ?? [])];
  return `${groups.slice(0, 4).join(':')}::/64`;
}
