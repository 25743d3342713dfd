// Asks the process in this container whether it is ready. Exit code 0 means yes, and 1 means no. The images' health checks run this
// file.
const port = process.env.INTERNAL_PORT || '9090';
const answer = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined);
process.exit(answer?.ok ? 0 : 1);
