/** The diagnostics channel on which `startPlatform` tells of each start. */
export const platformStarts = 'kith:platform-start';
