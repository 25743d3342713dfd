/** What a row that loads an address with wrk is measured with. */
export interface LoadOptions {
  natsUrl: string;
  redisUrl: string;
  wrk: string;
  /** Folder of the requests and of the processes' logs. */
  folder: string;
  rounds: number;
  /** Of a round. */
  seconds: number;
  connections: number;
  progress: (line: string) => void;
}
