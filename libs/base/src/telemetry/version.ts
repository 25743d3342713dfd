import about from '../../package.json' with { type: 'json' };

/** The version of Kith that runs. */
export const version: string = about.version;
