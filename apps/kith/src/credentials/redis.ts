import { createHash } from 'node:crypto';

/** The rights of a user of Redis: which keys the user may access, and by which commands. */
export interface RedisRights {
  keys: string;
  commands: readonly string[];
}

/**
 * The rights of the gateway, which counts its limits in Redis (services/gateway/src/limits/redis-counts.ts). No other process
 * connects to Redis.
 */
export function redisRights(prefix: string): RedisRights {
  return {
    keys: `${prefix}:limit:*`,
    // These commands run the counting script, are called by the script, or are sent by the client when it connects.
    commands: ['evalsha', 'eval', 'incrby', 'pexpire', 'pttl', 'info'],
  };
}

/** Redis' ACL file, with hashes instead of passwords. A client that has not signed in may do nothing. */
export function redisAcl(prefix: string, passwords: { gateway: string; health: string }): string {
  const { keys, commands } = redisRights(prefix);
  const hash = (password: string) => createHash('sha256').update(password).digest('hex');
  const allowed = (names: readonly string[]) => names.map((name) => `+${name}`).join(' ');
  return [
    'user default off resetpass resetkeys resetchannels -@all',
    `user gateway on #${hash(passwords.gateway)} resetkeys ~${keys} resetchannels -@all ${allowed(commands)}`,
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
dir /data
`;
}
