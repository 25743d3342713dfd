/** The name of the small variant that pictures of people have, and the longest edge of this variant in pixels. */
export const avatarSize = 'avatar';
export const avatarEdge = 320;

/** The addresses to try for a picture, best first. Only pictures that were uploaded to the platform have a small variant. */
export function addressesOf(avatar: string): string[] {
  return /\/storage\/files\/[^/]+$/.test(avatar) ? [`${avatar}/${avatarSize}`, avatar] : [avatar];
}
