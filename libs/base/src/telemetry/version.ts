import about from '../../package.json' with { type: 'json' };

/** The version of the running Kith. */
export const version: string = about.version;
