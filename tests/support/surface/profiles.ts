/** The fields of a user that strangers do not get (spec#users-strangers-card). */
export const hiddenFromStrangers = { foreignId: null, birthdate: null, location: null, metadata: {} };

/** Every profile field that a user may set. If a field's size is limited, its value has the largest size (spec#users-sizes). */
export const profile = {
  username: 'Ada.Lovelace_1815.abcdefghijkl',
  name: '😀'.repeat(100),
  avatar: `https://example.org/${'x'.repeat(2028)}`,
  bio: 'ü'.repeat(300),
  location: 'x'.repeat(1024),
  birthdate: '1815-12-10',
  metadata: { deep: [{ null: null, number: 1.5 }], text: 'x'.repeat(8 * 1024 - 47) },
};

/** Values that are refused for a profile field, each with its field. */
export const badProfile: readonly [field: keyof typeof profile, value: unknown][] = [
  ['username', 7],
  ['username', 'ab'],
  ['username', 'x'.repeat(31)],
  ['username', 'no spaces'],
  ['name', 7],
  ['name', '😀'.repeat(101)],
  ['name', 'lone \ud800'],
  ['avatar', {}],
  ['name', 'Line\nbreak'],
  ['name', 'Ada \u202eecalevoL'],
  ['name', 'Ada\u2066'],
  ['avatar', `https://example.org/${'x'.repeat(2029)}`],
  ['avatar', 'picture.png'],
  ['avatar', '//example.org/a.png'],
  ['avatar', '/\\example.org/a.png'],
  ['avatar', '/\t/example.org/a.png'],
  ['avatar', 'https:example.org/a.png'],
  ['avatar', 'https://'],
  ['avatar', 'javascript:alert(1)'],
  ['avatar', 'data:image/png;base64,AAAA'],
  ['bio', 'x'.repeat(301)],
  ['bio', []],
  ['location', 'x'.repeat(1025)],
  ['location', 'ü'.repeat(513)],
  ['birthdate', '10.12.1815'],
  ['birthdate', '1815-02-29'],
  ['metadata', []],
  ['metadata', { text: 'x'.repeat(8 * 1024) }],
];
