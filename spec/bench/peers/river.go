// River: river URL JOBS
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
)

type Order struct {
	Order int    `json:"order"`
	Note  string `json:"note"`
}

func (Order) Kind() string { return "noop" }

type Noop struct{ river.WorkerDefaults[Order] }

func (Noop) Work(context.Context, *river.Job[Order]) error { return nil }

func must[T any](value T, err error) T {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return value
}

func create(ctx context.Context, client *river.Client[pgx.Tx], jobs int) time.Duration {
	from := time.Now()
	for done := 0; done < jobs; done += 1000 {
		many := make([]river.InsertManyParams, min(1000, jobs-done))
		for i := range many {
			many[i].Args = Order{done + i, strings.Repeat("x", 80)}
		}
		must(client.InsertManyFast(ctx, many))
	}
	return time.Since(from)
}

// Until no row waits or runs: completions are written in batches.
func drain(ctx context.Context, client *river.Client[pgx.Tx], pool *pgxpool.Pool) time.Duration {
	from, left := time.Now(), 1
	must(0, client.Start(ctx))
	for left > 0 {
		time.Sleep(10 * time.Millisecond)
		must(0, pool.QueryRow(ctx,
			"SELECT count(*) FROM river_job WHERE state IN ('available', 'running')").Scan(&left))
	}
	return time.Since(from)
}

func main() {
	ctx := context.Background()
	jobs := must(strconv.Atoi(os.Args[2]))
	config := must(pgxpool.ParseConfig(os.Args[1]))
	config.MaxConns = 20
	pool := must(pgxpool.NewWithConfig(ctx, config))
	driver := riverpgxv5.New(pool)
	must(must(rivermigrate.New(driver, nil)).Migrate(ctx, rivermigrate.DirectionUp, nil))
	workers := river.NewWorkers()
	river.AddWorker(workers, Noop{})
	client := must(river.NewClient(driver, &river.Config{
		Workers: workers, Logger: slog.New(slog.NewTextHandler(io.Discard, nil)),
		FetchCooldown: time.Millisecond,
		Queues:        map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: 500}}}))
	created := create(ctx, client, jobs)
	must(pool.Exec(ctx, "VACUUM ANALYZE river_job"))
	drained := drain(ctx, client, pool)
	json.NewEncoder(os.Stdout).Encode(map[string]float64{
		"created": float64(jobs) / created.Seconds(), "drained": float64(jobs) / drained.Seconds()})
}
