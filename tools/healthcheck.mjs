// Asks the process in this container whether it is ready: exit code 0 or 1. The images' health checks run it.
const port = process.env.INTERNAL_PORT || '9090';
const answer = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined);
process.exit(answer?.ok ? 0 : 1);
