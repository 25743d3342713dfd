import { expect, test } from './fixtures.ts';

test('a user who signs in sees their connections', async ({ page, platform, address }) => {
  const ada = await platform.createUser({ name: 'Ada' });
  for (const name of ['Grace', 'Alan']) await platform.connect(ada, await platform.createUser({ name }));

  await page.goto(address);
  await page.getByLabel('E-mail').fill(ada.email);
  await page.getByLabel('Password').fill(ada.password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await expect(page.getByRole('list', { name: 'My people' }).getByRole('listitem')).toHaveText([
    'Alan',
    'Grace',
  ]);
});

test('a wrong password shows an error and no connections', async ({ page, platform, address }) => {
  const ada = await platform.createUser();
  await page.goto(address);
  await page.getByLabel('E-mail').fill(ada.email);
  await page.getByLabel('Password').fill('not that one');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await expect(page.getByRole('alert')).toHaveText('The e-mail address or the password is wrong.');
  await expect(page.getByRole('listitem')).toHaveCount(0);
});
