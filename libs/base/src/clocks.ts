/** How far the clocks of two machines may differ, in ms. */
export const clocksMs = 60 * 60_000;
