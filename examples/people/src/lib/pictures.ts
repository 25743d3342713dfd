/** Pictures of people have a small size: this is its name, and its longest edge in pixels. */
export const avatarSize = 'avatar';
export const avatarEdge = 320;

/** The addresses to try for a picture, best first. Only pictures that were uploaded here have a small size. */
export function addressesOf(avatar: string): string[] {
  return /\/storage\/files\/[^/]+$/.test(avatar) ? [`${avatar}/${avatarSize}`, avatar] : [avatar];
}
