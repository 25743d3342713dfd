// Loaded before a process's own code. It shifts the process's time of day by so many milliseconds.
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
