// Loaded before a process's own code: its time of day is off by so many milliseconds.
const shift = Number(process.env.KITH_FAULTS_CLOCK_MS);
const RealDate = Date;
const now = () => RealDate.now() + shift;

globalThis.Date = class extends RealDate {
  constructor(...given) {
    super(...(given.length > 0 ? given : [now()]));
  }
  static now() {
    return now();
  }
};
