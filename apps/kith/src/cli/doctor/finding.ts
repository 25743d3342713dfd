/** What the doctor reports about one thing that it has checked. */
export interface Finding {
  /** The thing that was checked. */
  check: string;
  state: 'ok' | 'warning' | 'wrong';
  /** What the doctor has found, as a sentence. */
  says: string;
  /** What to do about the finding, as a sentence. */
  mend?: string;
}

/** Collects the findings about one thing. */
export class Check {
  readonly findings: Finding[] = [];
  readonly #name: string;

  constructor(name: string) {
    this.#name = name;
  }

  ok(says: string): void {
    this.findings.push({ check: this.#name, state: 'ok', says });
  }

  warn(says: string, mend: string): void {
    this.findings.push({ check: this.#name, state: 'warning', says, mend });
  }

  wrong(says: string, mend: string): void {
    this.findings.push({ check: this.#name, state: 'wrong', says, mend });
  }
}

/** The message of an error, as a sentence. */
export function sentenceOf(error: unknown): string {
  const { message, code } = error as NodeJS.ErrnoException;
  const text = (message || code || String(error)).split('\n', 1)[0] as string;
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
