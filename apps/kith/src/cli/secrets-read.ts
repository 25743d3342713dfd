import { readVariable } from '@kith/base/config';

/**
 * An environment in which the platform's secrets are values, and no variable names a file or a command with a secret any more.
 * Whoever reads its settings twice, or passes it on to other processes, reads the secrets only once: a command that prints a
 * secret (`KITH_SECRET_COMMAND`) may work only once.
 */
export function withSecretsRead(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const names = ['KITH_SECRET', 'KITH_SECRET_PREVIOUS'];
  return {
    ...env,
    ...Object.fromEntries(names.map((name) => [name, readVariable(name, env)])),
    ...Object.fromEntries(
      names.flatMap((name) => ['_FILE', '_COMMAND'].map((place) => [`${name}${place}`, undefined])),
    ),
  };
}
