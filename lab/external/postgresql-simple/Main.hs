{-# LANGUAGE OverloadedStrings #-}
-- | The experiment hasql by postgresql-simple: parameters written into the text by the client, rows as text, decoded into types.
module Main (main) where

import Control.Exception (catch, throwIO)
import Data.String (fromString)
import qualified Data.Text as Text
import Database.PostgreSQL.Simple hiding (close)
import qualified Database.PostgreSQL.Simple as Simple
import Database.PostgreSQL.Simple.FromRow (field, fromRow)
import Database.PostgreSQL.Simple.Transaction

import People
import Protocol

instance FromRow Person where
  fromRow = Person <$> field <*> field <*> field

main :: IO ()
main = serve $ \hello -> do
  let [host, port] = server hello
  db <- connectPostgreSQL (fromString ("host=" ++ host ++ " port=" ++ port ++ " user=lab dbname=postgres"))
  let move :: Int -> Int -> IO Int
      move key change = do
        found <- query db "SELECT balance FROM balances WHERE id = ?" (Only key)
        case found of
          [Only old] -> old <$ execute db "UPDATE balances SET balance = ? WHERE id = ?" (old + change, key)
          _ -> fail ("no account " ++ show key)
  pure Subject
    { about = "postgresql-simple 0.6"
    , settings = "libpq, the simple protocol, all values as text; transfers within withTransactionMode SERIALIZABLE, reads by themselves"
    , setUp = \line _ -> mapM_ (execute_ db . fromString . Text.unpack) (drop 1 line)
    , operation = operations
    , run = \wanted -> case wanted of
        All table -> People <$> query_ db (fromString ("SELECT * FROM " ++ table))
        Between table above below other ->
          People <$> query db (fromString ("SELECT * FROM " ++ table ++ " WHERE id > ? AND id < ? AND birthday != ?")) (above, below, other)
        Transfer from to ->
          withTransactionMode (TransactionMode Serializable ReadWrite) db (Moved <$> move from (-3) <*> move to 3)
            `catch` \failure -> if sqlState failure `elem` ["40001", "40P01"] then pure Conflict else throwIO failure
        Balances -> Amounts . map fromOnly <$> query_ db "SELECT balance FROM balances ORDER BY id"
    , weigh = weight
    , endBatch = pure ()
    , rows = lines_
    , close = Simple.close db
    }
