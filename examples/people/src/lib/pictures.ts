/** The name of the size for pictures of people, and the longest edge of this size in pixels. */
export const avatarSize = 'avatar';
export const avatarEdge = 320;

/** The addresses to try for a picture, best first. Only pictures that were uploaded here have a small size. */
export function addressesOf(avatar: string): string[] {
  return /\/storage\/files\/[^/]+$/.test(avatar) ? [`${avatar}/${avatarSize}`, avatar] : [avatar];
}
