// Runs before a process's own code. Shifts the process's time of day by KITH_FAULTS_CLOCK_MS.
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
