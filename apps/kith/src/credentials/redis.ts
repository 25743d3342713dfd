import { createHash } from 'node:crypto';

/** What a user of Redis may do: on which keys, and by which commands. */
export interface RedisRights {
  keys: string;
  commands: readonly string[];
}

/**
 * The rights of the gateway, which counts its limits in Redis (services/gateway/src/limits/redis-counts.ts); no other process
 * connects to it.
 */
export function redisRights(prefix: string): RedisRights {
  return {
    keys: `${prefix}:limit:*`,
    // Commands to run the counting script, those that it calls, and those that the client sends when it connects.
    commands: ['evalsha', 'eval', 'incrby', 'pexpire', 'pttl', 'info'],
  };
}

/** Redis' ACL file, with hashes in place of passwords. A client that has not signed in may do nothing. */
export function redisAcl(prefix: string, passwords: { gateway: string; health: string }): string {
  const { keys, commands } = redisRights(prefix);
  const hash = (password: string) => createHash('sha256').update(password).digest('hex');
  const allowed = (names: readonly string[]) => names.map((name) => `+${name}`).join(' ');
  return [
    'user default off resetpass resetkeys resetchannels -@all',
    `user gateway on #${hash(passwords.gateway)} resetkeys ~${keys} resetchannels -@all ${allowed(commands)}`,
    // The container's health check.
    `user health on #${hash(passwords.health)} resetkeys resetchannels -@all +ping`,
    '',
  ].join('\n');
}

/** Redis' configuration: encrypted connections only. `folder` is where the server finds these files. */
export function redisConfig(folder: string): string {
  return `# Written by Kith at start.
port 0
tls-port 6379
tls-cert-file ${folder}/tls.pem
tls-key-file ${folder}/tls.pem
tls-auth-clients no
aclfile ${folder}/users.acl
# Limits outlive a restart.
appendonly yes
dir /data
`;
}
