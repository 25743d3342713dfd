// Asks the process in this container whether it is ready. Exit code 0 means yes, and 1 means no. The images' health checks run this
// file every ten seconds in each container. So it loads no other module of Kith.
import { readFileSync } from 'node:fs';

/** Reads a variable as `readConfig` does. */
function read(name, preset) {
  const { [name]: value, [`${name}_FILE`]: file } = process.env;
  return value || (file && readFileSync(file, 'utf8').trim()) || preset;
}

/** The host in the form that a URL needs, as in `hostOfUrl`. */
function hostOf(address) {
  if (address === '0.0.0.0') return '127.0.0.1';
  if (address === '::') return '[::1]';
  return address.includes(':') ? `[${address}]` : address;
}

const url = `http://${hostOf(read('INTERNAL_HOST', '127.0.0.1'))}:${read('INTERNAL_PORT', '9090')}/readyz`;
const answer = await fetch(url).catch(() => undefined);
process.exit(answer?.ok ? 0 : 1);
