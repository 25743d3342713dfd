/** The name of the size in which pictures of people are shown, and its longest edge in pixels. */
export const avatarSize = 'avatar';
export const avatarEdge = 320;

/** The addresses a picture may be had at, best first: what was uploaded here has a small size. */
export function addressesOf(avatar: string): string[] {
  return /\/storage\/files\/[^/]+$/.test(avatar) ? [`${avatar}/${avatarSize}`, avatar] : [avatar];
}
