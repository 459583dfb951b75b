import { expect } from 'chai';
import { checkName, checkUserName, passwordFault } from '../../../src/features/accounts/account-rules.js';

const ADA = { email: 'ada.lovelace@example.com', name: 'Ada King' };

describe('account rules', () => {
  it('reject user names that look like a pipeline', () => {
    for (const name of ['ci:deploy', ' Ci :deploy', 'C I: x', '\uFF23\uFF29\uFF1Ax'])
      expect(checkUserName(name).ok, name).to.equal(false);
    for (const name of ['Ci', 'Cicero: x', 'a ci: b', undefined]) expect(checkUserName(name).ok, name).to.equal(true);
    expect(checkUserName('Ada\u202E').ok).to.equal(false);
  });

  const guessed = [
    ' '.repeat(12),
    '\t \u00A0\u3000'.repeat(3),
    'aaaaaaaaaaaa',
    'passwordpassword',
    'Password1234',
    'P4ssw0rd!2345',
    'horsehorsehorse',
    'abcabcabcabc',
    '123456789012',
    'abcdefghijkl',
    'qwertyuiop123',
    'poiuytrewq321',
    'Welcome2026!!',
    'administrator',
    'ada.lovelace@example.com',
    'ADA.LOVELACE@EXAMPLE.COM',
    'Ada.Lovelace1',
    'example.com-ada',
    'lovelace lovelace',
    'AdaKing123456',
  ];
  for (const password of guessed) {
    it(`reject the password ${JSON.stringify(password)}`, () => {
      expect(passwordFault(password, ADA)).to.match(/^(is easy to guess|must not repeat)/);
    });
  }

  it('accept well-chosen and generated passwords', () => {
    for (const password of [
      'correct horse',
      'battery staple',
      'pässwörter 1',
      'xK9!tq-ada-7Zp2',
      '漢字仮名交文章書道具遠山川',
    ])
      expect(passwordFault(password, ADA), password).to.equal(null);
  });

  it('limit the length of a password', () => {
    for (const password of ['short horse', 'x'.repeat(257)])
      expect(passwordFault(password, ADA)).to.equal('must have 12 to 256 characters');
  });

  it('reject control, escape and format characters in names', () => {
    for (const name of ['\u001B[31mred', 'a\nb', 'a\u202Eb', 'a\u200Bb', '', 'x'.repeat(256)])
      expect(checkName(name), name).to.have.property('ok', false);
    for (const name of ['Ada Lovelace', 'José', undefined]) expect(checkName(name)).to.have.property('ok', true);
  });
});
