/** The name of the size in which pictures of people are shown, and its longest edge in pixels. */
export const avatarSize = 'avatar';
export const avatarEdge = 320;

/** The addresses to try for a picture, best first: pictures that were uploaded here have a small size. */
export function addressesOf(avatar: string): string[] {
  return /\/storage\/files\/[^/]+$/.test(avatar) ? [`${avatar}/${avatarSize}`, avatar] : [avatar];
}
