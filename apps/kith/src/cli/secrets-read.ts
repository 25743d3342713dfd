import { readVariable } from '@kith/base/config';

/**
 * An environment in which the platform's secrets are values, and no variable names a file or a command with a secret any more.
 * If code reads settings from this environment twice, or passes it on to other processes, the secrets are still read only once.
 * This matters because a command that prints a secret (`KITH_SECRET_COMMAND`) may work only once.
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
