import { z } from 'zod';

/**
 * What of a stored password hash says its kind and cost, for each form that is taken: argon2id and scrypt as PHC strings,
 * bcrypt as `$2a$`, `$2b$` or `$2y$`. Hashes of one kind take equally long to verify.
 */
const forms = [
  /^(\$argon2id\$v=19\$m=(?<memory>\d+),t=(?<passes>\d+),p=(?<lanes>\d+))\$[A-Za-z0-9+/]{11,88}\$[A-Za-z0-9+/]{16,88}$/,
  /^(\$scrypt\$ln=(?<log>\d+),r=(?<block>\d+),p=(?<parallel>\d+))\$[A-Za-z0-9+/]{8,88}\$[A-Za-z0-9+/]{22,88}$/,
  /^(\$2[aby]\$(?<rounds>\d\d))\$[A-Za-z0-9./]{53}$/,
];

/** The kind and cost of a password hash, its text up to the salt; null for a form that is not taken. */
export function passwordHashKind(hash: string): string | null {
  const found = forms.map((form) => form.exec(hash)).find((match) => match !== null);
  // The letter of bcrypt's version tells which old mistake was mended, not how it is verified.
  return found?.[1]?.replace(/^\$2[aby]\$/, '$2b$') ?? null;
}

/**
 * Costs within which a sign-in can be answered, beside others: 256 MiB, and about a second of one core. The parameters
 * multiply, so their product is what is bounded; scrypt's `N` must be below 2^(16·r) (RFC 7914).
 */
function isBearable(hash: string): boolean {
  const of = forms.map((form) => form.exec(hash)?.groups).find((groups) => groups !== undefined) ?? {};
  const within = (name: string, min: number, max: number) => {
    const value = of[name];
    return value === undefined || (Number(value) >= min && Number(value) <= max);
  };
  const [log, block] = [Number(of.log ?? 0), Number(of.block ?? 1)];
  const scryptBytes = 128 * 2 ** log * block;
  const scryptWork = 2 ** log * block * Number(of.parallel ?? 1);
  const argonWork = Number(of.memory ?? 0) * Number(of.passes ?? 0);
  return (
    within('memory', 8 * Number(of.lanes ?? 0), 262_144) &&
    within('passes', 1, 16) &&
    within('lanes', 1, 16) &&
    within('log', 1, 20) &&
    within('block', 1, 32) &&
    within('parallel', 1, 16) &&
    log < 16 * block &&
    scryptBytes <= 256 * 1024 * 1024 &&
    scryptWork <= 2 ** 21 &&
    argonWork <= 2 ** 19 &&
    within('rounds', 4, 13)
  );
}

/** A password hash of another back end. Refusals do not quote it. */
export const passwordHash = z
  .string()
  .max(300)
  .refine((value) => passwordHashKind(value) !== null, 'It must be argon2id, scrypt (PHC) or bcrypt.')
  .refine((value) => isBearable(value), 'It is too costly to verify.');
