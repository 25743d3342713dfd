import { createHash } from 'node:crypto';
import { examinedKey } from '@kith/gateway';

/** A process with a user of Redis. */
export type RedisUser = 'gateway' | 'operator';

/** The rights of a user of Redis: which keys the user may access, and by which commands. */
export interface RedisRights {
  keys: string;
  commands: readonly string[];
}

/**
 * The rights of the gateway and of the operator. The gateway counts its limits in Redis
 * (services/gateway/src/limits/redis-counts.ts). The operator's command `kith doctor` examines Redis
 * (services/gateway/src/limits/examine-redis.ts). No other process connects to Redis.
 */
export function redisRights(prefix: string): Record<RedisUser, RedisRights> {
  return {
    gateway: {
      keys: `${prefix}:limit:*`,
      // These commands run the counting script, are called by the script, or are sent by the client when it connects.
      commands: ['evalsha', 'eval', 'incrby', 'pexpire', 'pttl', 'info'],
    },
    // The operator can neither read nor change a count.
    operator: { keys: examinedKey(prefix), commands: ['eval', 'pttl', 'time', 'info'] },
  };
}

/** Redis' ACL file, with hashes instead of passwords. A client that has not signed in may do nothing. */
export function redisAcl(prefix: string, passwords: Record<RedisUser | 'health', string>): string {
  const hash = (password: string) => createHash('sha256').update(password).digest('hex');
  const allowed = (names: readonly string[]) => names.map((name) => `+${name}`).join(' ');
  const users = Object.entries(redisRights(prefix)) as [RedisUser, RedisRights][];
  return [
    'user default off resetpass resetkeys resetchannels -@all',
    ...users.map(
      ([name, { keys, commands }]) =>
        `user ${name} on #${hash(passwords[name])} resetkeys ~${keys} resetchannels -@all ${allowed(commands)}`,
    ),
    // This user is for the container's health check.
    `user health on #${hash(passwords.health)} resetkeys resetchannels -@all +ping`,
    '',
  ].join('\n');
}

/** Redis' configuration, which allows only encrypted connections. `folder` is where the server finds its files. */
export function redisConfig(folder: string): string {
  return `# Written by Kith at start.
port 0
tls-port 6379
tls-cert-file ${folder}/tls.pem
tls-key-file ${folder}/tls.pem
tls-auth-clients no
aclfile ${folder}/users.acl
# Rate limits survive a restart.
appendonly yes
# Without a limit, Redis grows until the system kills it (\`mem_limit\` in docker-compose.yml). A rewrite of the append-only file
# can need the same memory again. Redis holds only counts, each with a time to live. Those that expire first are removed first,
# because they matter least: a count of a long window, such as that of wrong operator tokens, stays longest.
maxmemory 200mb
maxmemory-policy volatile-ttl
dir /data
`;
}
