import { z } from 'zod';

/**
 * The accepted forms: argon2id and scrypt as PHC strings, bcrypt as `$2a$`, `$2b$` or `$2y$`. A hash begins with its kind, and
 * the kind includes the cost. All hashes of one kind take equally long to verify.
 */
const forms = [
  {
    kind: /^\$argon2id\$v=19\$m=(?<memory>\d+),t=(?<passes>\d+),p=(?<lanes>\d+)/,
    rest: /^\$[A-Za-z0-9+/]{11,88}\$[A-Za-z0-9+/]{16,88}$/,
  },
  {
    kind: /^\$scrypt\$ln=(?<log>\d+),r=(?<block>\d+),p=(?<parallel>\d+)/,
    rest: /^\$[A-Za-z0-9+/]{8,88}\$[A-Za-z0-9+/]{22,88}$/,
  },
  { kind: /^\$2[aby]\$(?<rounds>\d\d)/, rest: /^\$[A-Za-z0-9./]{53}$/ },
];

type Costs = Readonly<Record<string, string | undefined>>;

/**
 * Reads the kind at the start of a hash, and the costs in it. Also checks whether the rest of the hash is well-formed.
 * Undefined for a form that is not accepted.
 */
function read(hash: string): { kind: string; costs: Costs; isWhole: boolean } | undefined {
  for (const form of forms) {
    const found = form.kind.exec(hash);
    if (!found) continue;
    const [kind] = found;
    return { kind, costs: found.groups ?? {}, isWhole: form.rest.test(hash.slice(kind.length)) };
  }
  return undefined;
}

/** The kind of a password hash: the text up to the salt. It includes the cost. Null for a form that is not accepted. */
export function passwordHashKind(hash: string): string | null {
  const found = read(hash);
  // The letter in bcrypt's version says which old bug was fixed. It does not change how the hash is verified.
  return found?.isWhole ? found.kind.replace(/^\$2[aby]\$/, '$2b$') : null;
}

/**
 * The cost of verifying a hash of this kind, as a share of the highest accepted cost. The highest accepted cost is about a
 * second of one core.
 */
export function passwordHashCost(kind: string): number {
  return costOf(read(kind)?.costs ?? {});
}

/** The cost of a hash, which is the product of its parameters. */
function costOf({ memory, passes, log, block, parallel, rounds }: Costs): number {
  if (memory !== undefined) return (Number(memory) * Number(passes)) / 2 ** 19;
  if (log !== undefined) return (2 ** Number(log) * Number(block) * Number(parallel)) / 2 ** 21;
  return 2 ** Number(rounds) / 2 ** 13;
}

/**
 * Whether verifying this hash is cheap enough. It may take at most 256 MiB, and about a second of one core. The memory is
 * limited because several hashes may be verified at the same time. scrypt's `N` must be below 2^(16·r) (RFC 7914).
 */
function isBearable(hash: string): boolean {
  const of = read(hash)?.costs ?? {};
  const within = (name: string, min: number, max: number) => {
    const value = of[name];
    return value === undefined || (Number(value) >= min && Number(value) <= max);
  };
  const [log, block] = [Number(of.log ?? 0), Number(of.block ?? 1)];
  return (
    within('memory', 8 * Number(of.lanes ?? 0), 262_144) &&
    within('passes', 1, 16) &&
    within('lanes', 1, 16) &&
    within('log', 1, 20) &&
    within('block', 1, 32) &&
    within('parallel', 1, 16) &&
    log < 16 * block &&
    128 * 2 ** log * block <= 256 * 1024 * 1024 &&
    within('rounds', 4, 13) &&
    costOf(of) <= 1
  );
}

/** A password hash from another backend. Error messages do not quote it. */
export const passwordHash = z
  .string()
  .max(300)
  .refine((value) => passwordHashKind(value) !== null, 'must be argon2id, scrypt (PHC) or bcrypt.')
  .refine((value) => isBearable(value), 'is too costly to verify.');
