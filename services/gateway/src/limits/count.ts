/** A request that is to be counted. */
export interface Counting {
  /** This key names the operation, and the pair of project and client. */
  key: string;
  windowSeconds: number;
  /** The client's ceiling over all projects; it is counted first. */
  ceiling: { key: string; max: number; windowSeconds: number } | null;
}

/** How often a pair was counted in its window, including this request, and when the window ends. */
export interface Count {
  /** If true, the pair was not counted, and `msLeft` is the remaining time of the ceiling's window. */
  isOverCeiling: boolean;
  used: number;
  msLeft: number;
}
