/** The options of a row that puts load on an address with wrk. */
export interface LoadOptions {
  natsUrl: string;
  redisUrl: string;
  wrk: string;
  /** The folder of the requests and of the processes' logs. */
  folder: string;
  rounds: number;
  /** The length of a round, in s. */
  seconds: number;
  connections: number;
  progress: (line: string) => void;
}
