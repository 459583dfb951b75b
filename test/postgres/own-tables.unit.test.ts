import { expect } from 'chai';
import {
  LONGEST_SERVICE_SCHEMA,
  defaultServiceSchema,
  nameOwnSchema,
  own,
  trashSchema,
  trashSchemaName,
} from '../../src/postgres/own-tables.js';

describe("names of the service's own tables", () => {
  it('are the same in every schema', () => {
    const named = Object.entries(own).map(([key, text]) => [key, nameOwnSchema(text, 'service')]);
    expect(Object.fromEntries(named)).to.deep.equal({
      authEpoch: 'service.service_auth_epoch',
      changes: 'service.service_changes',
      checkpoints: 'service.service_checkpoints',
      collections: 'service.service_collections',
      divergences: 'service.service_divergences',
      documents: 'service.service_documents',
      environments: 'service.service_environments',
      events: 'service.service_events',
      fields: 'service.service_fields',
      folds: 'service.service_folds',
      exchangedIdTokens: 'service.service_exchanged_id_tokens',
      formerUsers: 'service.service_former_users',
      idempotency: 'service.service_idempotency',
      identities: 'service.service_identities',
      keys: 'service.service_keys',
      migrations: 'service.service_migrations',
      objects: 'service.service_objects',
      preparations: 'service.service_preparations',
      presets: 'service.service_presets',
      projections: 'service.service_projections',
      relations: 'service.service_relations',
      sessions: 'service.service_sessions',
      settings: 'service.service_settings',
      tokens: 'service.service_tokens',
      trash: 'service.service_trash',
      users: 'service.service_users',
      webhookDeliveries: 'service.service_webhook_deliveries',
      webhooks: 'service.service_webhooks',
    });
  });

  it('are quoted as needed, and remain single names', () => {
    const text = `SELECT 1 FROM ${own.events}, ${own.trash}`;
    const named: [schema: string, expected: string][] = [
      ['service', 'service'],
      ['service_crm_2', 'service_crm_2'],
      ['service_$&', '"service_$&"'],
      ['Service', '"Service"'],
      ['services', '"services"'],
      ['my_service', '"my_service"'],
      ['se"rvice', '"se""rvice"'],
    ];
    for (const [schema, expected] of named) {
      expect(nameOwnSchema(text, schema)).to.equal(
        `SELECT 1 FROM ${expected}.service_events, ${expected}.service_trash`,
      );
    }
    expect(nameOwnSchema('SELECT 1', 'service')).to.equal('SELECT 1');
  });

  it('contain the position if they are in the trash', () => {
    const text = `DROP SCHEMA ${trashSchema(7)}; SELECT FROM ${own.trash}, ${trashSchema(12)}.t`;
    expect(nameOwnSchema(text, 'service')).to.equal(
      'DROP SCHEMA service_trash_7; SELECT FROM service.service_trash, service_trash_12.t',
    );
    expect(nameOwnSchema(trashSchema(7), 'my"s')).to.equal('"my""s_trash_7"');
    expect(trashSchemaName('service', '9')).to.equal('service_trash_9');
  });

  it('fit with the largest position', () => {
    const name = trashSchemaName('s'.repeat(LONGEST_SERVICE_SCHEMA), Number.MAX_SAFE_INTEGER);
    expect(name).to.have.length(63);
  });

  it('exist outside the managed schema', () => {
    expect(['public', 'crm'].map(defaultServiceSchema)).to.deep.equal(['service', 'service_crm']);
  });
});
