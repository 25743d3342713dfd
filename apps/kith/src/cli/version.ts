import about from '../../package.json' with { type: 'json' };

/** The version of Kith that runs. All packages have the same version. */
export const version: string = about.version;
