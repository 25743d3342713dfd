/** The diagnostics channel on which `startPlatform` announces each start. */
export const platformStarts = 'kith:platform-start';
