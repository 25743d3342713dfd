// The address of the platform and the application's project: `/?api=<url>&project=<id>`.
const { api, project } = Object.fromEntries(new URLSearchParams(location.search));
const form = document.querySelector('form');
const alert = document.querySelector('[role=alert]');
const list = document.querySelector('ul');

async function call(method, path, { token, body } = {}) {
  const response = await fetch(`${api}/v7/${project}${path}`, {
    method,
    headers: {
      ...(token && { authorization: `Bearer ${token}` }),
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.error);
  return answer;
}

form.addEventListener('submit', async (event) => {
  event.preventDefault();
  alert.textContent = '';
  try {
    const body = Object.fromEntries(new FormData(form));
    const { accessToken: token } = await call('POST', '/auth/sign-in', { body });
    const { connections } = await call('GET', '/connections', { token });
    list.replaceChildren(
      ...connections.map(({ connectedUser }) => {
        const item = document.createElement('li');
        item.textContent = connectedUser.name;
        return item;
      }),
    );
    form.hidden = true;
  } catch (error) {
    alert.textContent = error.message;
  }
});
