import about from '../../package.json' with { type: 'json' };

/** The version of Kith that runs: all packages have the same. */
export const version: string = about.version;
