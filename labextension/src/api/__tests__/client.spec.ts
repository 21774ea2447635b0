import { ServerConnection } from '@jupyterlab/services';

import { Client } from '../client';
import { RequestFailure } from '../failure';

function clientThatGets(answer: () => Promise<Response>, seen: Request[] = []): Client {
  const settings = ServerConnection.makeSettings({
    baseUrl: 'http://127.0.0.1/base/',
    fetch: async (input: RequestInfo) => {
      seen.push(input as Request);
      return answer();
    }
  });
  return new Client(settings);
}

const json = (body: unknown, status = 200) => async () =>
  new Response(JSON.stringify(body), { status });

async function failureOf(promise: Promise<unknown>): Promise<RequestFailure> {
  return promise.then(
    () => {
      throw new Error('no failure');
    },
    reason => reason as RequestFailure
  );
}

describe('Client', () => {
  it('asks below /clusterbridge/ with the path encoded', async () => {
    const seen: Request[] = [];
    await clientThatGets(json({ findings: [] }), seen).findings('a b/ü.ipynb');
    const url = new URL(seen[0].url);
    expect(url.pathname).toBe('/base/clusterbridge/findings');
    expect(url.searchParams.get('path')).toBe('a b/ü.ipynb');
  });

  it('passes the words of the server on', async () => {
    const client = clientThatGets(json({ message: 'no kernel', hint: 'install it', exit_code: 13 }, 422));
    const failure = await failureOf(client.check('x.ipynb'));
    expect([failure.message, failure.hint]).toEqual(['no kernel', 'install it']);
  });

  it('says that the server extension is missing when the answer is not ours', async () => {
    const client = clientThatGets(async () => new Response('<html>', { status: 404 }));
    const failure = await failureOf(client.engines());
    expect(failure.message).toContain('does not answer (HTTP 404)');
    expect(failure.hint).toContain('jupyter server extension list');
  });

  it('says that the server cannot be reached', async () => {
    const client = clientThatGets(() => Promise.reject(new TypeError('Failed to fetch')));
    const failure = await failureOf(client.engines());
    expect(failure.message).toContain('cannot be reached');
  });
});
